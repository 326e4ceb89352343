"""Which arguments of which program are paths, and what it does with them. Any argument of others may be one."""

from __future__ import annotations


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Each line: programs, then one letter for what their plain arguments are:
#   D deleted  C created  W written  R read  A any  T text, no paths at all
#   P copied (the last one written)  M moved  L linked  Z the first one written, the others read
#   G a pattern or script first, then files that are read   H a mode or owner first, then files that are written
# behind it, where a program writes into the directory it runs in: `.` always, `.lt` not with -l or -t, `+O,name` only
# with -O or --name; and then the options that take a value, short ones glued together, long ones apart:
#   : no path   < read   > written   = any path   ! is G's first argument   @ a file that holds it   $ code for a shell
#   ^ a directory that the plain arguments go into   / the directory it runs in   ? value only if glued   - no value
_TABLE = """\
rm rmdir unlink trash trash-put grm rimraf|D
shred|D n:s: iterations: size:
mkdir mkfifo mknod|C m: mode:
touch|W r<d:t: reference< date:
tee gzip gunzip bzip2 bunzip2 xz unxz|W S:
zstd unzstd|W o>D< output-dir-flat>
truncate|W s:r< size: reference<
fallocate|W l:o: length: offset:
cp gcp|P t^S: target-directory^ suffix:
mv gmv|M t^S: target-directory^ suffix:
ln gln link|L t^S: target-directory^ suffix:
install|P t^m:o:g:S: target-directory^ mode: owner: group: suffix: directory-
rsync|P e$f:B:T= rsh$ exclude: include: filter: exclude-from< include-from< files-from< temp-dir= log-file> \
backup- backup-dir> partial- partial-dir> compare-dest< link-dest< rsync-path: delete- delete-after-
scp|P c:F<i<J:l:o:P:S:
chmod chown chgrp|H reference< from:
cd pushd cat bat batcat less more cmp comm md5sum sha1sum sha256sum sha512sum readlink source . |R
ls|R I:w:T: ignore: hide: block-size: color? sort: time: format:
head tail|R n:c:s: lines: bytes: pid: sleep-interval:
wc|R files0-from<
stat|R c: format: printf:
file|R f<m< magic-file<
du|R d:B:t:X< max-depth: exclude: block-size: threshold: exclude-from<
tree|R L:P:I:o>
diff|R U:C:I:x: unified? context? exclude: label: color?
xxd od hexdump strings|R l:s:c:n:A:t:N:j:e:
realpath|R relative-to=
cut paste uniq nl fold|R d:f:c:b:s:w:
sort|R o>k:t:S:T= output> key: field-separator: temporary-directory= parallel: files0-from<
dirname basename echo printf true false : expr test [ seq sleep kill export let read exit return tr date which type \
set shopt unset trap wait uname yes notify-send logger alias mysql pkill pgrep killall ps id whoami man apt apt-get \
brew|T
jq|G f@ from-file@ arg: argjson: slurpfile: rawfile: indent:
yq ack|G
grep egrep fgrep zgrep|G e!f@m:A:B:C: regexp! file@ files- include: exclude: exclude-dir: max-count: context: \
color? colour?
rg|G e!f@g:t:T:m:A:B:C:r: regexp! file@ files- glob: iglob: type: type-not: max-count: context: replace: ignore-file<
ag|G G:m: ignore: ignore-dir:
fd fdfind|G e:E:t:d: exclude: extension: type:
sed gsed|G e!f@l: expression! file@
awk gawk mawk nawk|G f@F:v: file@ field-separator: assign:
perl ruby|R e:E:I:M:r:F:i?
tar gtar bsdtar|A f=C^X<T<b:H:I$F$ file= directory^ exclude: exclude-from< files-from< transform: strip-components: \
format: to-command$ use-compress-program$ info-script$ new-volume-script$ rsh-command$ one-top-level^
unzip|R.lptvZ d^x:
curl|T+O,remote-name,remote-name-all o>D>c>K<T<E<b< output> output-dir^ dump-header> cookie-jar> config< upload-file< \
cookie< cacert< cert< key< trace> trace-ascii> stderr> etag-save>
wget|T.O,spider,output-document O^P^o>a>i< output-document^ directory-prefix^ output-file> append-output> input-file< \
save-cookies>
make gmake ninja|T C=f<I< directory= file< makefile< eval$
cmake|A S<B>D:G:E: build=
gcc g++ cc c++ clang clang++|R o>I<L<l:D:x:
rustc|R o> out-dir> cfg:
python python3|A c:m:W:X:
node nodejs|A e:p:r:
pip pip3|A r<t>e=c<d> requirement< target> constraint< dest> cache-dir= log> index-url: root> prefix>
psql|T f<o>L> file< output> log-file>
mount|A t:o:
mktemp|C p> tmpdir? suffix:
patch|W. p:i<d^o^ input< directory^ output^
mkfs mke2fs mkswap wipefs|W t:L:b:m:O:T:U:
gh|T F<D>O> body-file< dir> output> notes-file<"""
PROGRAMS = {
    name: spec for heads, _, spec in [row.partition("|") for row in _TABLE.split("\n")] for name in heads.split()
}
SPECIAL_AS = {"gsed": "sed", "gawk": "awk", "mawk": "awk", "nawk": "awk", "gtar": "tar", "bsdtar": "tar"}
# options of any program whose value is a pattern, a message or an address
TEXT_OPTIONS = names(
    "exclude include glob iglob pattern format message grep filter ignore regex url data exclude-dir body title "
    "header query expr eval define env label name description text xpath"
)
# programs whose paths lie on another machine or in a container
REMOTE = names("docker podman nerdctl kubectl oc lxc vagrant adb ssh mosh")
# programs that mean the real /tmp when they are told /tmp
NEVER_REWRITTEN = REMOTE | names(
    "mount umount findmnt mountpoint lsof fuser chroot systemd-tmpfiles tmpwarden df tmux unshare nsenter "
    "bwrap firejail losetup swapon useradd usermod crontab systemctl at"
)
# names that change files, for the words behind a program that nobody knows
CHANGING = names("rm rmdir unlink shred mv cp ln dd tee truncate chmod chown rsync find xargs mkfs rimraf")
TRUSTED_DIRECTORIES = names("/bin /usr/bin /usr/local/bin /sbin /usr/sbin /usr/local/sbin /opt/homebrew/bin")
