#!/bin/sh
# A devcontainer feature: runs as root while the image is built, with its options in the environment.
set -eu
source=${SOURCE:-} hooks=${HOOKS:-true}
# It is written into a script below: nothing but these two words.
case $hooks in
true | false) ;;
*) echo "tmpwarden: the option hooks is true or false" >&2; exit 1 ;;
esac
# Never by name alone: whoever takes a name on an index would be installed.
for wheel in "$(dirname "$0")"/tmpwarden-*.whl; do
  if [ -z "$source" ] && [ -f "$wheel" ]; then source=$wheel; fi
done
[ -n "$source" ] || { echo "tmpwarden: put its wheel beside install.sh, or name a source" >&2; exit 1; }
suits='import venv, ensurepip, sys; sys.exit(sys.version_info < (3, 11))'
find_python() { for p in python3.14 python3.13 python3.12 python3.11 python3; do "$p" -c "$suits" 2>/dev/null && { command -v "$p"; return; }; done; }
python=$(find_python || true)
if [ -z "$python" ] && command -v apt-get >/dev/null; then
  apt-get update -qq && apt-get install -qq -y --no-install-recommends python3-venv >/dev/null
  python=$(find_python || true)
fi
[ -n "$python" ] || { echo "tmpwarden needs Python 3.11 or newer with its venv module" >&2; exit 1; }
"$python" -m venv /opt/tmpwarden
/opt/tmpwarden/bin/pip install --quiet --disable-pip-version-check "$source"
ln -sf /opt/tmpwarden/bin/tmpwarden /usr/local/bin/tmpwarden
mkdir -p /usr/local/share/tmpwarden
cat >/usr/local/share/tmpwarden/post-create <<EOF
#!/bin/sh
# As the container's user: agents come by other features, so hooks are written when all of them are there.
[ $hooks = true ] || exit 0
exec tmpwarden setup --yes --no-timer
EOF
chmod 755 /usr/local/share/tmpwarden/post-create
