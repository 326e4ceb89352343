"""Programs that run other programs or code: wrappers, runners, shells, languages, other machines.

As table.py says: names, plain arguments and options, facets. One row has all that is true of its programs.
"""

ROWS = """\
sudo|A u:g:p:C:h:T:r:D/R:t: user: group: prompt: chdir/ chroot: host: role: type: close-from: other-user:|runs
doas|A u:C:|runs
env|A u:C/S$ unset: chdir/ split-string$|runs transparent
nice|A n: adjustment:|runs transparent
ionice|A c:n:p:P:u: class: classdata: pid: pgid: uid:|runs
chrt|A p:T:P:D: pid: sched-runtime: sched-period: sched-deadline:|runs=:
taskset|A p: pid:|runs=:
nohup unbuffer rlwrap catchsegv busybox toybox eatmydata fakechroot dotenv linux32 linux64 i386 x86_64 \
dbus-run-session dbus-launch bundle:exec rbenv:exec pyenv:exec nodenv:exec asdf:exec pnpm:exec yarn:exec yarn:dlx \
pnpm:dlx bun:x devbox:run mise:exec mise:x|A|runs
setsid|A|runs transparent
pkexec|A|runs leaves
stdbuf|A i:o:e: input: output: error:|runs transparent
timeout gtimeout|A k:s: kill-after: signal:|runs=: transparent
time|A f:o> format: output>|runs in-shell
gtime|A f:o> format: output>|runs
command builtin|A|runs in-shell transparent
exec|A a:|runs in-shell transparent
strace ltrace|A o>e:p:s:u:a:E:I:P:S:X:n:l:x: output> trace:|runs
caffeinate|A t:w:|runs
xvfb-run|A n:s:e:f:p:w: server-num: server-args: error-file> auth-file>|runs
flock|A E:w:c$ timeout: wait: conflict-exit-code: command$|runs=>
prlimit|A p: pid:|runs
systemd-run|A p:u:M:G:H: property: unit: description: slice: service-type: uid: gid: nice: working-directory/ setenv: \
on-active: on-boot: on-startup: on-unit-active: on-calendar: timer-property: machine: host:|runs leaves
systemd-inhibit|A what: who: why: mode:|runs
ssh-agent|A a:E:t:P:|runs
firejail|A|runs real
fakeroot|A l:s:i:b: lib: faked:|runs
unshare|A S:G:R:w/ root: wd/ setuid: setgid: propagation: map-user: map-group: map-users: map-groups:|runs real
nsenter|A t:S:G:r:w/ target: setuid: setgid: root:|runs leaves other-root real
chroot|A userspec: groups:|runs=: leaves other-root real
setpriv|A reuid: regid: groups: inh-caps: ambient-caps: bounding-set: securebits: pdeathsig: selinux-label: \
apparmor-profile:|runs
setarch aws-vault:exec chamber:exec|A|runs=:
numactl|A N:m:i:p:C:P:w: cpunodebind: membind: interleave: preferred: physcpubind:|runs
cgexec|A g:|runs
choom|A n: adjust:|runs
runuser|T c$u:g:G:s: command$ session-command$ user: group: supp-group: shell:|runs user-shell=input
runcon|A t:u:r:l: type: user: role: range:|runs=:
valgrind|A tool: log-file> suppressions:|runs
direnv|A|runs=::
watch|A n: interval:|runs=$
entr|A|runs=$
hyperfine|A w:m:M:r:p$c$n:L:S:s$ warmup: min-runs: max-runs: runs: prepare$ cleanup$ setup$ conclude$ command-name: \
shell: export-json> export-markdown> export-csv>|runs=&
npx bunx npm:exec npm:x|A p:c$ package: call$ workspace:|runs
nix-shell|A p:A:I:E: run$ command$ packages: attr: arg: argstr:|runs
uv:run|A p: with: python: project: directory/ env-file: index: extra: group: package: with-requirements: \
with-editable:|runs
poetry:run pipenv:run pdm:run rye:run hatch:run|A C/ directory/ project: env:|runs
conda:run mamba:run micromamba:run|A n:p: name: prefix: cwd/|runs
op:run doppler:run infisical:run|A env-file: project: config:|runs
npm|A C> prefix> pack-destination> cache= dir> cwd> workspace:|runner quiet=test,ls,list,view,outdated,--version,-v \
valued=--prefix,-w,--workspace
pnpm yarn|A C> prefix> pack-destination> cache= dir> cwd> workspace:|runner quiet=test,ls,list,why,--version
bun|A C> prefix> pack-destination> cache= dir> cwd> workspace:|runner code=e,--eval
nodenv uv chamber pyenv op doppler bundle hatch aws-vault devbox pipenv rbenv micromamba rye asdf poetry pdm conda \
infisical mamba mise||runner
sh bash dash zsh ksh mksh ash fish rbash yash||shell
su|T c$g:G:s:w: command$ session-command$ group: supp-group: shell: whitelist-environment:|user-shell=input
sg newgrp|T c$|user-shell=input
script|T c$o:O>I>B>T>m:E: command$ log-out> log-in> log-io> log-timing> logging-format: echo: output-limit:|user-shell
perl|R e:E:I:M:r:F:i?|reads=perl code=eE env=PERL
ruby|R e:E:I:M:r:F:i?|reads=perl code=e env=RUBY
python:venv|C prompt: upgrade-deps-
python:pip|A r<t>e=c<d> requirement< target> constraint< dest> cache-dir= log> index-url: root> prefix>
python:zipfile python:tarfile||reads=archive_module
python:json.tool|I indent:
python:gzip python:compileall|W d:s:p:x:i<j:o:e:
python python3|A c:m:W:X:|code=c env=PYTHON
node nodejs|A e:p:r:|code=ep,--eval,--print env=NODE_
php||code=rBRE valued=-d,-c,-z,-S,-t
lua osascript Rscript R elixir iex swift scala groovy raku ocaml racket clojure clj ghc ghci crystal||code=e,--eval
julia||code=eE,--eval,--print
guile||code=c
sbcl octave gnuplot erl||code=e,--eval
pwsh powershell||code=cCe
deno tclsh||code
vim vi nvim gvim|W n:v:x: name: value: remove:|told-by=-c,-s,-S,-e,-E,-es,-u,--cmd,--headless,+
emacs|W n:v:x: name: value: remove:|told-by=--batch,-batch,--eval,-eval,-l,--load,--script,-f,--funcall
at||told-by shows=-l,-c,-d,-r real
batch||told-by shows=-l,-c,-d,-r
crontab||told-by shows=-l real
ed ex||told-by
view||told-by=-c,-s,-S,-e,-E,-es,-u,--cmd,--headless,+
expect||told-by=-c
gdb||told-by=-ex,-x,-ix,-iex,-batch,--batch,--command,--eval-command
socat||told-by=EXEC:,SYSTEM:,exec:,system:
mosh vagrant ssh oc adb||remote real
podman||remote container real valued=--connection,--url,--root,--log-level
nerdctl lxc||remote container real
kubectl||remote real valued=-n,--namespace,--context,--cluster,--kubeconfig,-s,--server
docker||remote container real valued=-H,--host,-c,--context,--config,-l,--log-level
xargs||changes
find||changes transparent
eval||transparent
git||quiet=status,log,diff,show,rev-parse,ls-files,blame,describe,rev-list,shortlog,ls-tree env=GIT_ \
valued=-C,-c,--git-dir,--work-tree,--namespace,--exec-path,--config-env"""
