# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2016 # what make and ninja expand
# What commands of programs.table need that does not fit into a line. Read by the shell that runs a row.
# A row that cannot run here ends with status 77 and says why.

plain=$CLIENTS/plainclient
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org

cannot() {
    echo "$*"
    exit 77
}

# Only this program is run under gmtrace, directly, instead of all of the row.
via() {
    if [ "$WAY" = launcher ]; then
        "$GMT_BUILD/bin/gmtrace" -- "$@"
    else
        "$@"
    fi
}

# After each line the program's own status, as far as the shell shows it.
status() {
    local status=0
    "$@" || status=$?
    echo "status $status"
}

hello_c() {
    printf '#include <stdio.h>\nint main(void) { return puts("hello") < 0; }\n' >hello.c
}

# Signals to a shell of its own: what is left is what the parent sees. The job notes of bash name a pid.
ended_by() {
    bash -c "kill -$1 \$\$" 2>/dev/null
    echo "status $?"
}

# compiled FLAG...: a program, made by the compiler of this machine, and what it prints.
compiled() {
    hello_c
    cc "$@" -o hello hello.c || cannot "cc $* does not work"
    ./hello
}

# sanitized KIND COMMAND...: a program, started by that.
sanitized() {
    hello_c
    # What cannot run untraced says nothing about tracing.
    cc -g "-fsanitize=$1" -o hello hello.c 2>/dev/null || cannot "no -fsanitize=$1"
    env -u LD_PRELOAD ./hello >/dev/null 2>&1 || cannot "-fsanitize=$1 does not work on this kernel"
    "${@:2}" ./hello
}

# preloaded LIBRARY before|after: a library of somebody else's, in both orders.
preloaded() {
    local both=$1
    [ -z "${LD_PRELOAD-}" ] || {
        [ "$2" = before ] && both=$1:$LD_PRELOAD || both=$LD_PRELOAD:$1
    }
    LD_PRELOAD=$both "$plain" threads 8
    LD_PRELOAD=$both bash -c 'echo "$((6 * 7))" | cat'
    LD_PRELOAD=$both "$plain" forks 3
}

# limited RESOURCE=VALUE: as prlimit takes it.
limited() {
    prlimit "--$1" "${@:2}"
}

as_nobody() {
    setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

# The loader drops what is preloaded into a set-user-ID program.
suid() {
    cp "$plain" suid
    chmod 4755 suid
    as_nobody ./suid no_children
}

# In the other root there is no library of ours: ld.so says so, and goes on. That line is ld.so's, not a change by us.
in_chroot() {
    mkdir -p root/bin root/lib root/lib64
    cp "$CLIENTS/plainclient" root/bin/plainclient
    ldd "$plain" | grep -oE '/[^ ]+\.so[^ ]*' | grep -v libgmtrace | while read -r library; do
        mkdir -p "root${library%/*}"
        cp "$library" "root$library"
    done
    chroot root /bin/plainclient no_children 2>&1 | grep -v 'cannot be preloaded'
    rm -rf root
}

# A library in a folder that only the program's DT_RPATH or DT_RUNPATH names.
run_path() {
    mkdir lib
    echo 'int answer(void) { return 42; }' | cc -shared -fPIC -o lib/libanswer.so -x c -
    echo 'int answer(void); int main(void) { return answer(); }' |
        cc -o path -x c - -x none -Llib -lanswer "-Wl,$1,-rpath,\$ORIGIN/lib"
    status ./path
    rm -rf lib path
}

# A program with an interposer of dlsym that it brings itself, by DT_NEEDED: before and behind ours is the loader's choice.
own_interposer() {
    hello_c
    cc -o hello hello.c -Wl,--no-as-needed "$CLIENTS/libotherdlsym.so" "-Wl,-rpath,$CLIENTS"
    ./hello
    rm hello
}

# An auditing library sees every object; it gets its own name space.
audit() {
    cat >audit.c <<'END'
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <string.h>
static int bound;
unsigned la_version(unsigned version) { return version; }
unsigned la_objopen(struct link_map *map, Lmid_t id, uintptr_t *cookie)
{
    (void)map, (void)id, (void)cookie;
    return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}
uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to, unsigned *flags, const char *name)
{
    (void)index, (void)from, (void)to, (void)flags;
    bound += strcmp(name, "puts") == 0;
    return symbol->st_value;
}
END
    hello_c
    cc -o hello hello.c
    cc -shared -fPIC -o libaudit.so audit.c || cannot "no auditing library"
    LD_AUDIT=$PWD/libaudit.so ./hello
    LD_AUDIT=$PWD/libaudit.so "$plain" "$@"
}

# ldd names what is preloaded: nothing else may differ, and addresses do each time.
listed() {
    "$@" | grep -vE 'libgmtrace|linux-vdso' | sed 's/ (0x.*//' | sort
}

# Everything that a program needs to build a project: configure, build, run.
cmake_project() {
    hello_c
    printf 'cmake_minimum_required(VERSION 3.16)\nproject(p C)\nadd_executable(hello hello.c)\n' >CMakeLists.txt
    cmake -S . -B build -G "$1" >configure.log 2>&1
    echo "configured: $?"
    cmake --build build 2>&1 | grep -cE 'Built target|Linking'
    build/hello
    rm -rf build configure.log
}

many_files() {
    local i
    for ((i = 0; i < 30; i++)); do
        echo "int f$i(void) { return $i; }" >f$i.c
    done
}

make_project() {
    many_files
    printf 'all: $(patsubst %%.c,%%.o,$(sort $(wildcard f*.c)))\n' >Makefile
    make -s -j4 2>&1
    nm -A --defined-only f*.o | cut -d' ' -f2-
}

ninja_project() {
    many_files
    {
        printf 'rule cc\n  command = cc -c $in -o $out\n'
        for file in f*.c; do
            echo "build ${file%.c}.o: cc $file"
        done
    } >build.ninja
    ninja >/dev/null 2>&1
    echo "status $?"
    rm -f .ninja_log .ninja_deps
}

nvcc_program() {
    echo '__global__ void k(int *p) { *p = 1; } int main() { return 7; }' >k.cu
    nvcc -arch=sm_90 -cudart none -Wno-deprecated-gpu-targets "$@" k.cu 2>&1
    echo "status $?"
}

git_history() {
    git init -q -b main repo
    cd repo || exit
    seq 1000 >numbers
    git add numbers
    git commit -q -m first
    sed -i s/5/five/ numbers
    git commit -q -a -m second
    git log --format='%H %s'
    git diff --stat HEAD~1
    git clone -q . ../clone 2>&1
    git -C ../clone fsck 2>&1
    git gc -q
    cd ..
    rm -rf repo clone
}

java_program() {
    cat >Hello.java <<'END'
public class Hello {
    public static void main(String[] arguments) throws Exception {
        Thread[] threads = new Thread[50];
        for (int i = 0; i < 50; i++) { threads[i] = new Thread(() -> Math.sin(1)); threads[i].start(); }
        for (Thread thread : threads) thread.join();
        System.gc();
        System.out.println("hello " + new ProcessBuilder("true").start().waitFor());
        System.exit(6);
    }
}
END
    java -XX:-UsePerfData Hello.java
}

rust_program() {
    cat >hello.rs <<'END'
fn main() {
    let threads: Vec<_> = (0..20).map(|i| std::thread::spawn(move || i * 2)).collect();
    let sum: i32 = threads.into_iter().map(|t| t.join().unwrap()).sum();
    println!("{}", sum);
    let caught = std::panic::catch_unwind(|| panic!("caught"));
    std::process::exit(if caught.is_err() { 8 } else { 1 });
}
END
    rustc -O hello.rs && ./hello 2>/dev/null
    echo "status $?"
    rm -f hello
}

cxx_program() {
    cat >e.cc <<'END'
#include <cstdio>
#include <stdexcept>
#include <thread>
#include <vector>
struct last { ~last() { std::puts("thread-local destroyed"); } };
thread_local last local;
static struct global { ~global() { std::puts("global destroyed"); } } global;
int main()
{
    std::thread([] { (void)&local; }).join();
    int caught = 0;
    for (int i = 0; i < 100; i++) {
        try { throw std::runtime_error("x"); } catch (const std::exception &) { caught++; }
    }
    std::printf("%d\n", caught);
    std::vector<int>().at(3);
}
END
    "$1" -pthread -o e e.cc || cannot "$1 makes no C++ programs"
    (ulimit -c 0; exec ./e)
    echo "status $?"
    rm e
}

# A program under a debugger: frames of ours, addresses and the debugger's own warnings say nothing about the program.
debugged() {
    gdb -nx -batch -ex 'set confirm off' -ex 'break plain_no_children' -ex run -ex 'backtrace 1' -ex continue \
        --args "$plain" no_children 2>/dev/null | grep -E '^(#0|wait|.*exited)' | sed 's/0x[0-9a-f]*//; s/process [0-9]*//'
}

pseudo_terminal() {
    script -qec "$1" /dev/null | tr -d '\r'
    echo "status ${PIPESTATUS[0]}"
}

python() {
    python3 -S -c "$@"
}
