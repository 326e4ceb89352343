"""Where the structures of macOS have which field: facts of its public headers, in bytes, for 64-bit programs.

Read in apple-oss-distributions/xnu (sys/proc_info.h says of its structures that they are API and will not change). Each
line names the header's structure and field. tests/oskit/test_darwin_layouts.py lays the structures out with a C
compiler and compares; tools/mac_probe.py compares them with `lsof` on a Mac.
"""

# sys/proc_info.h, flavors of proc_pidinfo
LIST_FDS = 1  # PROC_PIDLISTFDS
BSD = 3  # PROC_PIDTBSDINFO
TASK = 4  # PROC_PIDTASKINFO
LIST_THREADS = 6  # PROC_PIDLISTTHREADS
ALL_REGIONS = 8  # PROC_PIDREGIONPATHINFO: every region, with a file or without
PLACES = 9  # PROC_PIDVNODEPATHINFO
THREAD_PLACE = 10  # PROC_PIDTHREADPATHINFO
SHORT = 13  # PROC_PIDT_SHORTBSDINFO
LIST_FILEPORTS = 14  # PROC_PIDLISTFILEPORTS
UNIQUE = 17  # sys/proc_info_private.h: PROC_PIDUNIQIDENTIFIERINFO
FILE_REGIONS = 22  # sys/proc_info_private.h: PROC_PIDREGIONPATHINFO2, only regions with a file
# flavors of proc_pidfdinfo and proc_pidfileportinfo
FD_VNODE = 2  # PROC_PIDFDVNODEPATHINFO, PROC_PIDFILEPORTVNODEPATHINFO
FD_SOCKET = 3  # PROC_PIDFDSOCKETINFO
ALL_PIDS = 1  # PROC_ALL_PIDS

# sizes: what an answer must have, to the byte
SIZE_OF = {
    BSD: 136,  # struct proc_bsdinfo
    TASK: 96,  # struct proc_taskinfo
    ALL_REGIONS: 1272,  # struct proc_regionwithpathinfo
    PLACES: 2352,  # struct proc_vnodepathinfo
    THREAD_PLACE: 1288,  # struct proc_threadwithpathinfo
    SHORT: 64,  # struct proc_bsdshortinfo
    UNIQUE: 56,  # struct proc_uniqidentifierinfo
    FILE_REGIONS: 1272,
}
SIZE_OF_FD_VNODE = 1200  # struct vnode_fdinfowithpath
SIZE_OF_FD_SOCKET = 792  # struct socket_fdinfo
SIZE_OF_ENTRY = 8  # struct proc_fdinfo, struct proc_fileportinfo: number, type
SIZE_OF_THREAD = 8  # PROC_PIDLISTTHREADS_SIZE

# struct proc_bsdshortinfo
SHORT_PARENT, SHORT_STATUS, SHORT_COMMAND, SHORT_FLAGS, SHORT_UID = 4, 12, 16, 32, 36  # pbsi_ppid ... pbsi_uid
COMMAND_SIZE = 16  # MAXCOMLEN
# struct proc_bsdinfo
BSD_FLAGS, BSD_TERMINAL, BSD_START_S, BSD_START_US = 0, 108, 120, 128  # pbi_flags, e_tdev, pbi_start_tvsec, ...
NO_TERMINAL = 0xFFFFFFFF  # sys/types.h: NODEV
# pbi_flags, pbsi_flags
IS_EXITING = 4  # PROC_FLAG_INEXIT
HAS_THREAD_PLACES = 0x100  # PROC_FLAG_THCWD: a thread has a working directory of its own
# sys/proc.h: p_stat
STOPPED, ZOMBIE = 4, 5  # SSTOP, SZOMB
# struct proc_uniqidentifierinfo
UNIQUE_ID, UNIQUE_PARENT, UNIQUE_VERSION = 16, 24, 32  # p_uniqueid, p_puniqueid, p_idversion
# struct proc_taskinfo
TASK_RESIDENT, TASK_USER, TASK_SYSTEM, TASK_SWITCHES = 8, 16, 24, 80  # pti_resident_size, ..., pti_csw

# struct proc_fdinfo
IS_VNODE, IS_SOCKET = 1, 2  # PROX_FDTYPE_VNODE, PROX_FDTYPE_SOCKET
# struct proc_fileinfo, at the beginning of what proc_pidfdinfo tells
FILE_FLAGS, FILE_OFFSET = 0, 8  # fi_openflags, fi_offset
OPEN_READ, OPEN_WRITE, OPEN_APPEND = 1, 2, 8  # sys/fcntl.h: FREAD, FWRITE, O_APPEND: the kernel's, not those of open
OPEN_TO_LOOK = 0x8000  # O_EVTONLY
# struct vinfo_stat, at the beginning of struct vnode_info
VNODE_DEVICE, VNODE_MODE, VNODE_LINKS, VNODE_FILE = 0, 4, 6, 8  # vst_dev, vst_mode, vst_nlink, vst_ino
VNODE_BYTES, VNODE_BLOCKS = 88, 96  # vst_size, vst_blocks
VNODE_TYPE = 136  # struct vnode_info: vi_type
IS_DIRECTORY = 2  # sys/vnode.h: VDIR
# struct vnode_info_path
PATH_IN_VNODE, LONGEST_PATH = 152, 1024  # vip_path, MAXPATHLEN
# where a struct vnode_info_path lies
VNODE_IN_FD = 24  # struct vnode_fdinfowithpath: pvip
VNODE_IN_REGION = 96  # struct proc_regionwithpathinfo: prp_vip
VNODE_IN_THREAD = 112  # struct proc_threadwithpathinfo: pvip
ROOT_IN_PLACES = 1176  # struct proc_vnodepathinfo: pvi_rdir
# struct proc_regioninfo
REGION_PROTECTION, REGION_SHARE, REGION_ADDRESS, REGION_SIZE = 0, 60, 80, 88  # pri_protection, pri_share_mode, ...
MAY_WRITE = 2  # mach/vm_prot.h: VM_PROT_WRITE
IS_PRIVATE = (1, 2, 3, 8)  # SM_COW, SM_PRIVATE, SM_EMPTY, SM_LARGE_PAGE: what is written there reaches no file

# struct socket_fdinfo: a struct proc_fileinfo, then a struct socket_info
SOCKET_HANDLE = 24 + 136  # soi_so
SOCKET_OPTIONS, SOCKET_KIND, SOCKET_PROTOCOL = 24 + 164, 24 + 232, 24 + 240  # soi_options, soi_kind, soi_proto
IS_TCP, IS_UNIX = 2, 3  # SOCKINFO_TCP, SOCKINFO_UN
ACCEPTS = 2  # sys/socket.h: SO_ACCEPTCONN
# struct in_sockinfo, at the beginning of struct tcp_sockinfo
TCP_FOREIGN_PORT, TCP_LOCAL_PORT, TCP_VERSION = 0, 4, 24  # insi_fport, insi_lport, insi_vflag
TCP_FOREIGN, TCP_LOCAL, TCP_STATE = 32, 48, 80  # insi_faddr, insi_laddr, tcpsi_state
IS_IPV4 = 1  # INI_IPV4: the last four of the sixteen bytes
TCP_LISTENING, TCP_ESTABLISHED = 1, 4  # TSI_S_LISTEN, TSI_S_ESTABLISHED
# struct un_sockinfo: unsi_addr, a struct sockaddr_un (sys/un.h: sun_len, sun_family, sun_path[104])
UNIX_PATH, UNIX_PATH_SIZE = 16 + 2, 104

# sys/mount.h: struct statfs with 64-bit inode numbers
SIZE_OF_MOUNT = 2168
MOUNT_ID, MOUNT_FLAGS, MOUNT_TYPE, MOUNT_POINT, MOUNT_SOURCE = 48, 64, 72, 88, 1112  # f_fsid, f_flags, ...
TYPE_SIZE = 16  # MFSTYPENAMELEN
DO_NOT_WAIT = 2  # MNT_NOWAIT
IS_LOCAL, NO_ACCESS_TIMES, READ_ONLY = 0x1000, 0x10000000, 1  # MNT_LOCAL, MNT_NOATIME, MNT_RDONLY

# sys/sysctl.h
CTL_KERN, KERN_ARGMAX, KERN_PROC, KERN_PROC_PID, KERN_BOOTTIME, KERN_PROCARGS2 = 1, 8, 14, 1, 21, 49
SIZE_OF_KINFO = 648  # struct kinfo_proc; it begins with sys/proc.h: struct extern_proc
KINFO_IGNORED = 232  # p_sigignore

# sys/event.h: struct kevent
SIZE_OF_EVENT = 32
EVENT_FORMAT = "=QhHIqQ"  # ident, filter, flags, fflags, data, udata
ABOUT_PROCESS, ADD_ONCE, ENDS = -5, 0x0011, 0x80000000  # EVFILT_PROC, EV_ADD | EV_ONESHOT, NOTE_EXIT

# bsm/audit.h: audit_token_t has eight words; the kernel compares these two when it signals by token
TOKEN_WORDS, TOKEN_PID, TOKEN_VERSION = 8, 5, 7

NEVER_OVER = 4  # sys/stdio.h: RENAME_EXCL
USER_TEMP, USER_CACHE = 65537, 65538  # unistd.h: _CS_DARWIN_USER_TEMP_DIR, _CS_DARWIN_USER_CACHE_DIR

# sys/stat.h, st_flags: what was made immutable, what macOS guards from every program, and what is not on this disk: to
# look into that would fetch it from iCloud
IMMUTABLE = 0x2 | 0x4 | 0x20000 | 0x40000 | 0x100000  # UF_IMMUTABLE, UF_APPEND, SF_IMMUTABLE, SF_APPEND, SF_NOUNLINK
GUARDED, ELSEWHERE = 0x80 | 0x80000, 0x40000000  # UF_DATAVAULT | SF_RESTRICTED, SF_DATALESS
HELD_BACK = IMMUTABLE | GUARDED | ELSEWHERE
