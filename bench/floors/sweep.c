/* The floor of a sweep: the system calls that the laws ask for, and nothing thought about the answers.

   sweep scan TOP            every session below TOP/<project>/ is walked: opened, listed, each entry looked at
   sweep take TOP Q JOURNAL  and pinned, locked, written down, renamed into Q, compared
   sweep purge TOP Q JOURNAL and walked once more in there, renamed, emptied
   sweep undo TOP Q JOURNAL  what lies in Q goes back where it was, never over anything */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { GROUP = 64, LINE = 400 };
static const int DIRECTORY = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
static int quarantine = -1, journal = -1, waiting = 0;
static char lines[GROUP * LINE];

static void tell(int most)
{
    if (++waiting < most)
        return;
    if (journal >= 0 && write(journal, lines, (size_t)waiting * LINE) < 0)
        perror("journal");
    waiting = 0;
}

static void tree(int parent, const char *name, int empties)
{
    struct stat status;
    struct dirent *entry;
    int fd = openat(parent, name, DIRECTORY | O_NOATIME);
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    if (directory == NULL)
        return;
    fstat(fd, &status);
    while ((entry = readdir(directory)) != NULL) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        if (entry->d_type == DT_DIR)
            tree(fd, entry->d_name, empties);
        else if (empties)
            unlinkat(fd, entry->d_name, 0);
        else
            fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW);
    }
    closedir(directory);
    if (empties)
        unlinkat(parent, name, AT_REMOVEDIR);
}

static void take(int parent, const char *project, const char *name, int purges)
{
    struct stat pinned, moved;
    char token[600], doomed[610];
    int pin = openat(parent, name, O_PATH | O_NOFOLLOW | O_CLOEXEC), lock = openat(parent, name, DIRECTORY);
    fstat(pin, &pinned);
    flock(lock, LOCK_EX | LOCK_NB);
    tell(GROUP);
    snprintf(token, sizeof token, "%s+%s", project, name);
    if (renameat(parent, name, quarantine, token) == 0)
        fstatat(quarantine, token, &moved, AT_SYMLINK_NOFOLLOW);
    close(lock);
    close(pin);
    tell(GROUP);
    if (!purges)
        return;
    tree(quarantine, token, 0);
    snprintf(doomed, sizeof doomed, "%s.x", token);
    renameat(quarantine, token, quarantine, doomed);
    tree(quarantine, doomed, 1);
}

static void sweep(int top, const char *what)
{
    struct dirent *project, *session;
    DIR *projects = fdopendir(dup(top));
    while ((project = readdir(projects)) != NULL) {
        if (project->d_name[0] == '.')
            continue;
        DIR *sessions = fdopendir(openat(top, project->d_name, DIRECTORY));
        while (sessions != NULL && (session = readdir(sessions)) != NULL) {
            if (session->d_name[0] == '.')
                continue;
            tree(dirfd(sessions), session->d_name, 0);
            if (strcmp(what, "scan") != 0)
                take(dirfd(sessions), project->d_name, session->d_name, strcmp(what, "purge") == 0);
        }
        if (sessions != NULL)
            closedir(sessions);
    }
    closedir(projects);
}

static void undo(int top)
{
    struct dirent *entry;
    struct stat status;
    char last[300] = "";
    int parent = -1;
    DIR *all = fdopendir(dup(quarantine));
    while ((entry = readdir(all)) != NULL) {
        char *cut = strchr(entry->d_name, '+');
        if (cut == NULL)
            continue;
        char token[600];
        snprintf(token, sizeof token, "%s", entry->d_name);
        *cut = 0;
        if (strcmp(last, entry->d_name) != 0) {
            if (parent >= 0)
                close(parent);
            mkdirat(top, entry->d_name, 0700);
            parent = openat(top, entry->d_name, DIRECTORY);
            snprintf(last, sizeof last, "%s", entry->d_name);
        }
        fstatat(quarantine, token, &status, AT_SYMLINK_NOFOLLOW);
        renameat2(quarantine, token, parent, cut + 1, RENAME_NOREPLACE);
        tell(32);
    }
    closedir(all);
}

int main(int count, char **words)
{
    if (count < 3)
        return 3;
    int top = open(words[2], DIRECTORY);
    if (count > 4) {
        mkdir(words[3], 0700);
        quarantine = open(words[3], DIRECTORY);
        journal = open(words[4], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    }
    if (strcmp(words[1], "undo") == 0)
        undo(top);
    else
        sweep(top, words[1]);
    return 0;
}
