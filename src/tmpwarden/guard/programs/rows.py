"""Programs that work on files, or on none.

As table.py says: names, plain arguments and options, facets. One row has all that is true of its programs.
"""

ROWS = """\
rm grm|D|changes linkless safe=rRfiIvd safe-long=recursive,force,verbose,dir,one-file-system,interactive,preserve-root
rmdir|D|changes linkless safe=v safe-long=verbose,ignore-fail-on-non-empty
unlink rimraf|D|changes
trash trash-put wipe srm|D
shred|D n:s: iterations: size:|changes
mkdir|C m: mode:|linkless safe=pv safe-valued=m safe-long=parents,verbose,mode
mkfifo mknod|C m: mode:
touch|W r<d:t: reference< date:|linkless safe=acmfh safe-valued=dtr \
safe-long=no-create,date,time,reference,no-dereference
tee|W S:|changes reads=tee
gzip gunzip bzip2 bunzip2 xz unxz|W S:
zstd unzstd|W o>D< output-dir-flat>
truncate|W s:r< size: reference<|changes
fallocate|W l:o: length: offset:
cp gcp|P t^S: target-directory^ suffix:|changes two-targets links=raRdPl safe=finuvprRadPLHTx safe-valued=t \
safe-long=force,no-clobber,update,verbose,recursive,archive,preserve \
safe-long=dereference,no-dereference,target-directory,no-target-directory,remove-destination,one-file-system
mv gmv|M t^S: target-directory^ suffix:|changes two-targets links safe=finuvT safe-valued=t \
safe-long=force,no-clobber,update,verbose,target-directory,no-target-directory
ln gln link|L t^S: target-directory^ suffix:|changes two-targets links
install|P t^m:o:g:S: target-directory^ mode: owner: group: suffix: directory-|two-targets links=- reads=install
rsync|P e$f:B:T= rsh$ exclude: include: filter: exclude-from< include-from< files-from< temp-dir= log-file> backup- \
backup-dir> partial- partial-dir> compare-dest< link-dest< rsync-path: delete- delete-after-|changes two-targets \
links=ral reads=rsync
scp sftp|P c:F<i<J:l:o:P:S$|two-targets reads=scp
chmod chown|H reference< from:|changes
chgrp|H reference< from:
cd pushd|R|linkless
less more|R|env=LESS
cat bat batcat cmp comm md5sum sha1sum sha256sum sha512sum readlink source .|R
ls|R I:w:T: ignore: hide: block-size: color? sort: time: format:|linkless
head tail|R n:c:s: lines: bytes: pid: sleep-interval:
wc|R files0-from<
stat|R c: format: printf:
file|R f<m< magic-file<
du|R d:B:t:X< max-depth: exclude: block-size: threshold: exclude-from<
tree|R L:P:I:o>
diff|R U:C:I:x: unified? context? exclude: label: color?
od hexdump strings|R l:s:c:n:A:t:N:j:e:
xxd|I l:s:c:n:o:g:R:
objcopy|I O:I:B:j:R:N:K:L:W:G:S: input-target: output-target: target: add-section: dump-section: set-section-flags: \
redefine-sym: rename-section: only-section: remove-section:|in-place
strip|W o>F:I:O:K:N:R: output-target: keep-symbol: remove-section:
pdftotext pdftohtml ps2pdf|I f:l:r:x:y:W:H: opw: upw:
realpath|R relative-to=
cut paste nl fold|R d:f:c:b:s:w:
uniq|I f:s:w: skip-fields: skip-chars: check-chars:
sort|R o>k:t:S:T= output> key: field-separator: temporary-directory= parallel: files0-from<
dirname basename false expr seq sleep kill export let read exit return tr date which type set shopt unset trap wait \
uname yes notify-send logger alias mysql pkill pgrep killall ps id whoami man apt apt-get brew journalctl service \
tflint tailscale userdel deluser|T
echo printf true :|T|linkless
test [|T|reads=test
jq|G f@ from-file@ arg: argjson: slurpfile: rawfile: indent:|reads=jq
yq ack|G
grep egrep fgrep zgrep|G e!f@m:A:B:C: regexp! file@ files- include: exclude: exclude-dir: max-count: context: color? \
colour?
rg|G e!f@g:t:T:m:A:B:C:r: regexp! file@ files- glob: iglob: type: type-not: max-count: context: replace: ignore-file<
ag|G G:m: ignore: ignore-dir:
fd fdfind|G e:E:t:d: exclude: extension: type:
sed gsed|G e!f@l: expression! file@|reads=sed
awk gawk mawk nawk|G f@F:v: file@ field-separator: assign:|reads=awk
tar gtar bsdtar|A f=C^X<T<b:H:I$F$g> listed-incremental> index-file> volno-file> file= directory^ exclude: \
exclude-from< files-from< transform: strip-components: format: to-command$ use-compress-program$ info-script$ \
new-volume-script$ rsh-command$ one-top-level^|links=x reads=tar
unzip|R.lptvZ d^x:|links
curl|T+O,remote-name,remote-name-all o>D>c>K<T<E<b< output> output-dir^ dump-header> cookie-jar> config< upload-file< \
cookie< cacert< cert< key< trace> trace-ascii> stderr> etag-save>|at-files told-by=-K,--config
wget|T.O,spider,output-document O^P^o>a>i< output-document^ directory-prefix^ output-file> append-output> input-file< \
save-cookies>
make gmake ninja|T C=f<I< directory= file< makefile< eval$
cmake|A S<B>D:G:E: build= install= prefix>
gcc g++ cc c++ clang clang++|R o>I<L<l:D:x:
rustc|R o> out-dir> cfg:
pip pip3|A r<t>e=c<d> requirement< target> constraint< dest> cache-dir= log> index-url: root> prefix>
psql|T f<o>L> file< output> log-file>
mount|A t:o:|real
mktemp|C p> tmpdir? suffix:|reads=mktemp
patch|W. p:i<d^o^ input< directory^ output^
mkfs|W t:L:b:m:O:T:U:|changes
mke2fs mkswap wipefs|W t:L:b:m:O:T:U:
gh|T F<D>O> body-file< dir> output> notes-file<|reads=gh valued=-R,--repo at-files
7z 7za 7zr unrar rar ar|A|reads=archiver at-files
aria2c|T. d^o: dir^ out:
axel|T. o^ output^
blkdiscard cfdisk cgdisk fdisk gdisk hdparm mdadm parted sfdisk sgdisk tune2fs resize2fs e2fsck fsck badblocks \
mogrify rmlint jdupes compress uncompress lzma unlzma lz4 brotli pigz unpigz dos2unix unix2dos sponge|W
pytest tox nox mypy pyright flake8 pylint tsc jest vitest mocha rspec ctest phpunit||quiet
cargo|A C> target-dir> root> manifest-path> out-dir> artifact-dir> package: bin: example: features: \
target:|quiet=build,test,check,clippy,tree,bench,--version
chattr setfattr restorecon nano pico micro|W n:v:x: name: value: remove:
chcon setcap rename prename perl-rename file-rename|H
composite convert magick montage|P
cpio|W+i,extract D^F<O>I< directory^ file= quiet-
csplit|R. f^n:b:k- prefix^
ffmpeg|W i<c:f:r:b:s:t: -filter_complex: -vf: -af: -ss: -to: -map:
go|A o>C> -ldflags: -tags: -run: -modfile= -coverprofile> -cpuprofile> -memprofile>|quiet=build,test,vet,list,version
gpg gpg2|A o>r:u: output> homedir= recipient: local-user:
helm|T f< values<
java|A -cp= -classpath= -jar<|at-files
javac|R d> -cp= -classpath=|at-files
mmv|M
black|W c:t:k:l:W: config< exclude: include: line-length: target-version: stdin-filename:|spares=,check,diff
isort|W l:m:p:s: settings-path< profile: src:|spares=c,check,check-only,diff
rustfmt|W edition: config: config-path<|spares=,check
autopep8 yapf|R a:j: style: max-line-length:|writes=i,in-place
prettier|R config< ignore-path< parser: plugin: tab-width: print-width: log-level: stdin-filepath:|writes=w,write
eslint stylelint biome oxlint|R c<f:o> config< format: output-file> rule: plugin: ext:|writes=,fix,write,apply
gofmt goimports gofumpt|R r: cpuprofile>|writes=w
shfmt|R i:|writes=w,write
clang-format|R style: assume-filename: files<|writes=i
stylua|W f< config-path<|spares=,check
ruff|R config< select: ignore: line-length: target-version:|writes=,fix,fix-only,=format spares=,check,diff
mongodump|T o> out>
nc ncat netcat|T e$c$ exec$ sh-exec$
openssl|T -out> -keyout> -in< -inkey< -key= -CAfile< -signkey< -certout> -writerand>
perf|A o>i<e: output> input<
pg_dump pg_dumpall mysqldump|T f>r> file> result-file>
pg_restore|A d:f> file>
redis-cli|T rdb> functions-rdb> eval< cacert< cert< key<
setfacl|W m:x:M<X<
split|P n:l:b:a:|reads=split
systemctl|T|real valued=-H,--host,-M,--machine
terraform tofu|T -out> -state> -state-out> -backup> -chdir> -var-file< -var:
ssh-keygen|T f>t:b:C:N:P:|reads=ssh_keygen
ssh-copy-id|T i<
tcpdump|T w>r<
youtube-dl yt-dlp|T. o^P^ output^ paths^
mountpoint df fuser bwrap systemd-tmpfiles umount usermod losetup lsof swapon findmnt tmux useradd tmpwarden||real
dd||changes reads=dd
popd||linkless
pwd hostname tty nproc arch locale free uptime groups|T|linkless
gio||reads=gio
rclone||reads=rclone
sqlite3||reads=sqlite3
zip||reads=zip"""
