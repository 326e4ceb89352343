"""Which arguments of which program are paths, and what it does with them. Any argument of others may be one."""

from __future__ import annotations


def names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Each line: programs, then one letter for what their plain arguments are:
#   D deleted  C created  W written  R read  A any  T text, no paths at all
#   P copied (the last one written)  M moved  L linked
#   G a pattern or script first, then files that are read   H a mode or owner first, then files that are written
# and behind it the options that take a value, short ones glued together, long ones apart:
#   : no path   < read   > written   = any path   ! is G's first argument   @ a file that holds it
#   ^ a directory that the plain arguments go into
_TABLE = """\
rm rmdir unlink trash trash-put grm rimraf|D
shred|D n:s: iterations: size:
mkdir mkfifo mknod|C m: mode:
touch|W r<d:t: reference< date:
tee gzip gunzip bzip2 bunzip2 xz unxz zstd|W S:
truncate|W s:r< size: reference<
fallocate|W l:o: length: offset:
cp gcp|P t^S: target-directory^ suffix:
mv gmv|M t^S: target-directory^ suffix:
ln gln|L t^S: target-directory^ suffix:
install|P t^m:o:g:S: target-directory^ mode: owner: group: suffix:
rsync|P e:f:B:T= rsh: exclude: include: filter: exclude-from< include-from< files-from< temp-dir= log-file> \
backup-dir> partial-dir> compare-dest< link-dest< rsync-path:
scp|P c:F<i<J:l:o:P:S:
chmod chown chgrp|H reference< from:
setfacl|A m:x:M<X<
cd pushd cat bat batcat less more cmp comm md5sum sha1sum sha256sum sha512sum readlink source . |R
ls|R I:w:T: ignore: hide: block-size: color: sort: time: format:
head tail|R n:c:s: lines: bytes: pid: sleep-interval:
wc|R files0-from<
stat|R c: format: printf:
file|R f<m< magic-file<
du|R d:B:t:X< max-depth: exclude: block-size: threshold: exclude-from<
tree|R L:P:I:o>
diff|R U:C:I:x: unified: context: exclude: label:
xxd od hexdump strings|R l:s:c:n:A:t:N:j:e:
realpath|R relative-to=
cut paste uniq nl fold|R d:f:c:b:s:w:
split|R n:l:b:a:
sort|R o>k:t:S:T= output> key: field-separator: temporary-directory= parallel: files0-from<
dirname basename echo printf true false : expr test [ seq sleep kill export let read exit return tr date which type \
set shopt unset trap wait uname yes notify-send logger alias mysql tmux screen pkill pgrep killall|T
jq|G f@ from-file@ arg: argjson: slurpfile: rawfile: indent:
yq ack|G
grep egrep fgrep zgrep|G e!f@m:A:B:C: regexp! file@ include: exclude: exclude-dir: max-count: context: color:
rg|G e!f@g:t:T:m:A:B:C:r: regexp! file@ glob: iglob: type: type-not: max-count: context: replace: ignore-file<
ag|G G:m: ignore: ignore-dir:
fd fdfind|G e:E:t:d: exclude: extension: type:
sed gsed|G e!f@l: expression! file@
awk gawk mawk nawk|G f@F:v: file@ field-separator: assign:
perl ruby|R e:I:M:r:
tar gtar bsdtar|A f=C^X<T<b:H: file= directory^ exclude: exclude-from< files-from< transform: strip-components: format:
zip|A x:i:b=
unzip|R d>x:
curl|T o>D>c>K<T<E<b: output> dump-header> cookie-jar> config< upload-file< output-dir> cacert< cert< key< trace> \
trace-ascii> stderr> etag-save>
wget|T O>P>o>a>i< output-document> directory-prefix> output-file> append-output> input-file< save-cookies>
make gmake ninja|T C=f<I< directory= file< makefile<
cmake|A S<B>D:G:E: build=
gcc g++ cc c++ clang clang++|R o>I<L<l:D:x:
rustc|R o> out-dir> cfg:
python python3|A c:m:W:X:
node nodejs|A e:p:r:
pip pip3|A r<t>e=c<d> requirement< target> constraint< dest> cache-dir= log> index-url:
psql|T f<o>L> file< output> log-file>
pg_dump mysqldump|T f>r> file> result-file>
sqlite3|A cmd: init<
mount|A t:o:
mktemp|C p> tmpdir> suffix:
ffmpeg|W i<c:f:r:b:s:t: filter_complex:
patch|W p:i<d>o> input< directory> output>
mkfs mke2fs mkswap wipefs mkfs.ext4 mkfs.ext3 mkfs.ext2 mkfs.xfs mkfs.btrfs mkfs.vfat|W t:L:b:m:O:T:U:
gh|T F< body-file<
git|A m:
git-clone|C b:o:c:u: branch: origin: depth: config: reference< template< separate-git-dir> jobs: filter:
git-init|C b: template< separate-git-dir> initial-branch:
git-commit|A m:F<c:C:t< message: file< author: date: fixup: squash: template< pathspec-from-file<
git-tag git-merge|T m:F< message: file<
git-config|T f= file=
git-log|A S:G:n:L: grep: author: committer: since: until: after: before: format: pretty:
git-grep|G e!f@ max-depth:
git-archive|A o> output> prefix: format: remote:
git-apply git-am|R p: directory=
git-worktree|A b:B:
git-format-patch|T o> output-directory>
git-stash|A m: message:
git-push|A o: push-option:"""
PROGRAMS = {
    name: spec for heads, _, spec in [row.partition("|") for row in _TABLE.split("\n")] for name in heads.split()
}
SPECIAL_AS = {"gsed": "sed", "gawk": "awk", "mawk": "awk", "nawk": "awk", "gtar": "tar", "bsdtar": "tar"}
# options of any program whose value is a pattern, a message or an address
TEXT_OPTIONS = names(
    "exclude include glob iglob pattern format message grep filter ignore regex url data exclude-dir body title "
    "header query expr eval define env label name description text"
)
# programs whose paths lie on another machine or in a container
REMOTE = names("docker podman nerdctl kubectl oc lxc vagrant adb ssh mosh")
# programs that mean the real /tmp when they are told /tmp
NEVER_REWRITTEN = REMOTE | names(
    "mount umount findmnt mountpoint lsof fuser chroot systemd-tmpfiles tmpwarden df tmux psql unshare nsenter "
    "bwrap firejail losetup swapon useradd usermod crontab systemctl at"
)
TRUSTED_DIRECTORIES = names("/bin /usr/bin /usr/local/bin /sbin /usr/sbin /usr/local/sbin /opt/homebrew/bin")
