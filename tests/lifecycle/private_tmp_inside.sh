# Run by test_private_tmp.py inside a private /tmp only. $1: a Python, then sockets below /tmp.
test -e /tmp/of-the-test && exit 99
python=$1; shift
cat > /tmp/connect.py <<'END'
import socket, sys
for name in sys.argv[2:]:
    try:
        socket.socket(socket.AF_UNIX).connect("/tmp/" + name)
        print(sys.argv[1], name)
    except OSError as error:
        print(sys.argv[1], name, error.strerror)
END
cp /tmp/connect.py "$HOME/connect.py"
rm /tmp/connect.py
find /tmp -mindepth 1 ! -type d | sort
"$python" "$HOME/connect.py" first "$@"
for name in "$@"; do
  chmod 000 "/tmp/$name"
  mv "/tmp/$name" /tmp/moved
  unlink "/tmp/$name"
  unshare --user --map-root-user --mount umount -c "/tmp/$name"
done 2>/dev/null
unshare --user --map-root-user --mount sh -c 'umount -c /tmp; test -e /tmp/of-the-test && rm -rf /tmp/*' 2>/dev/null
rm -rf /tmp/* /tmp/.[!.]* 2>/dev/null
"$python" "$HOME/connect.py" last "$@"
mv /tmp/deep /tmp/elsewhere && rm -rf /tmp/elsewhere 2>/dev/null
"$python" "$HOME/connect.py" moved elsewhere/er/than/s
exit 7
