# SPDX-License-Identifier: Apache-2.0
# Searches every report of a trace for every private name in it: redact_leaks.py GMANALYZE MODEL TRACE...
# Names come straight from the trace's tables, past gmanalyze. What may be shown all the same is the list PUBLIC
# below, which is this test's own. Writes reports to the current folder.
import base64, concurrent.futures, gzip, json, os, re, shutil, sqlite3, subprocess, sys, tempfile

FORMATS = ["txt", "json", "sarif", "md", "csv", "html"]

# Names that are the same on every machine.
PUBLIC = re.compile(r"""
    cu(da)?[A-Z]\w*                                     # functions of the driver and of the runtime
  | __cuda(LaunchKernel|LaunchKernel_helper|(Un)?[rR]egisterFatBinary|PopCallConfiguration)
  | libcudart_static_[0-9a-f]{40} | main | _start | exit | __run_exit_handlers | clone3? | start_thread | __libc_start_\w+
  | (ld-linux-x86-64|lib(c|m|dl|rt|util|pthread|gcc_s|stdc\+\+|cuda|cudart|cupti|nvperf_host|nvperf_target|gmtrace|
     jansson|nvidia-ptxjitcompiler)|linux-vdso)\.so[.0-9]*
  | (/usr/local/cuda(-[.0-9]+)?/.*|/usr/lib/gcc/.*|/usr/include/c\+\+/.*|.*/targets/x86_64-linux/include/
     (crt|thrust|cub|cuda|nv|cuda_runtime.*))
""", re.X)

# Words of the reports themselves, which kernels and variables of the recordings are called, too. A name that is one of
# them proves nothing in either direction; longer forms of it (mangled, with arguments) are searched for.
WORDS = set("""access allocate allocations auto bank buffers busy call caller calls cell check choose close collect copies context copy count counters cuda cuda_runtime cuda_runtime.h cupti data deep device device_functions device_functions.h double driver field fill file
    fingerprints first float frame free full functions gather global gmtrace graph group init input items kernel kernels launch launches line lines
    list load local loop main many mark matrix median memory memset memsets merge module name names none norm offset once open order output pack page
    pass path peak pipeline place places plain program range rank rate ratio read reduce register release result reverse rows rule runtime scale scan second shared
    shift size slow sort source spilled stack stacks stage start step stop store stream stride strided sum swap table tail text then tile time total touch trace
    transpose union unpack update upload value void wait walk warp work write zero""".split()) | {"for (int j = 0; j < 4; j++)"}

TEXTS = [
    "SELECT name, mangled FROM kernel", "SELECT name FROM kernel_footprint",
    "SELECT exe, command, cwd, hostname, options FROM process", "SELECT name FROM thread",
    "SELECT path, build_id FROM module", "SELECT uuid FROM device", "SELECT client FROM device_gap",
    "SELECT text, hash FROM source_file", "SELECT uuid FROM device_model",
    "SELECT text FROM string WHERE id IN (SELECT function_id FROM frame)",
    "SELECT text FROM string WHERE id IN (SELECT file_id FROM frame)",
    "SELECT text FROM string WHERE id IN (SELECT function_id FROM instruction)",
    "SELECT text FROM string WHERE id IN (SELECT file_id FROM instruction UNION SELECT caller_file_id FROM instruction)",
    "SELECT text FROM string WHERE id IN (SELECT function_id FROM inline_level UNION SELECT file_id FROM inline_level)",
    "SELECT text FROM string WHERE id IN (SELECT first_file_id FROM race UNION SELECT second_file_id FROM race)",
    "SELECT text FROM string WHERE id IN (SELECT name_id FROM range UNION SELECT domain_id FROM range)",
    "SELECT text FROM string WHERE id IN (SELECT kernel_name_id FROM device_op)",
    "SELECT detail FROM loss WHERE kind LIKE 'kernel class%'", "SELECT what, detail FROM coverage WHERE kind = 'runtime'",
    "SELECT detail FROM coverage_example",
]


def base_names(text):
    """What people would recognise of a name: functions without arguments, of paths each part."""
    yield text
    if "/" in text:
        yield from re.split(r"[/ ;=']+", text)
        for name in re.split(r"[/ ;=']+", text):
            yield name.rsplit(".", 1)[0]
    for mangled in re.findall(r"_Z\w+", text):
        yield mangled
        for length, rest in re.findall(r"(\d+)([A-Za-z_]\w*)", mangled):
            yield rest[:int(length)]
    yield from re.findall(r"[A-Za-z_]\w*(?=[<(])", text)
    yield from re.findall(r"\w+::\w+", text)


def lines_of(text):
    """Source text: lines that are long enough to be somebody's."""
    return {line.strip() for line in text.splitlines() if len(line.strip()) > 20}


def strings_of(image):
    """Texts inside of an embedded cubin: symbols, sections, paths, literals. Shorter ones are chance."""
    return {text.decode() for text in re.findall(rb"[\x20-\x7e]{8,}", image)}


def private_names(trace):
    db = sqlite3.connect(trace)
    names = set()
    for sql in TEXTS:
        try:
            rows = db.execute(sql).fetchall()
        except sqlite3.OperationalError:
            continue  # a trace of an older version
        for text in (str(value) for row in rows for value in row if value is not None):
            names |= lines_of(text) if "\n" in text else set(base_names(text))
    try:
        for (image,) in db.execute("SELECT image FROM cubin"):
            names |= strings_of(image)
    except sqlite3.OperationalError:
        pass
    db.close()
    system = {"include", "local", "targets", "x86_64-linux", "x86_64-linux-gnu", "linux", "version", "lib64", "nvidia"}
    return {n for n in names if len(n) > 3 and not PUBLIC.fullmatch(n) and n not in WORDS and n not in system and
            not re.fullmatch(r"[\d.:_x-]+|__device_stub_\w*", n)}


rule_pages = []


def page_texts(html):
    """The page's template belongs to gmtrace; what a trace adds lies in the payload and in the title."""
    packed = re.search(r'<script id="payload"[^>]*>([^<]*)<', html)[1]
    title = re.search(r"<title>[^<]*</title>", html)[0]
    return title + gzip.decompress(base64.b64decode(packed)).decode("utf-8", "replace")


def without_rule_pages(text):
    """The pages of the rules are gmanalyze's own, the same in every report: they hold no name of a trace."""
    for page in rule_pages:
        text = text.replace(page, "")
    return text


def decoded(name):
    """As a reader of the format sees it: escapes undone."""
    text = open(name, encoding="utf-8", errors="replace").read()
    if name.endswith((".json", ".sarif")):
        return without_rule_pages(json.dumps(json.loads(text), ensure_ascii=False, indent=0)).replace("\\\"", "\"")
    return without_rule_pages(page_texts(text)) if name.endswith(".html") else text


def leaks(text, names):
    """Whole words: 'stride(' is none of 'gmt_stride'. What is no word is searched anywhere, by grep: it takes
    thousands of texts at once."""
    words = set(re.findall(r"\w+", text))
    yield from (name for name in names if re.fullmatch(r"\w+", name) and name in words)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as patterns:
        patterns.writelines(f"{name}\n" for name in names if not re.fullmatch(r"\w+", name))
        patterns.flush()
        found = subprocess.run(["grep", "-aoF", "-f", patterns.name], input=text, capture_output=True, text=True,
                               encoding="utf-8", errors="replace", env={"LC_ALL": "C"})
    assert found.returncode in (0, 1), found.stderr
    yield from dict.fromkeys(found.stdout.splitlines())


def analyze(gmanalyze, model, traces, level, stem):
    outputs = [f"{stem}.{f}" for f in (FORMATS if len(traces) == 1 else ["txt", "json", "md"])]
    command = [gmanalyze, "--calibrate=never", "--top=0", *([f"--redact={level}"] if level else []),
               *(["--model", model] if model else []), *[w for o in outputs for w in ("-o", o)], *traces]
    run = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert run.returncode == 0, f"{command}: status {run.returncode}: {run.stderr}"
    with open(f"{stem}.out", "w", encoding="utf-8") as out:
        out.write(run.stdout)
    return outputs + [f"{stem}.out"]


def findings(stem):
    report = json.load(open(f"{stem}.json", encoding="utf-8"))
    return sorted(json.dumps([f["rule"], f["severity"], f["cost_ns"], f["saving"]]) for f in report["findings"] + report["notes"])


def check(outputs, names, label):
    found = [(output, leak) for output in outputs for leak in leaks(decoded(output), names)]
    for output, leak in found[:20]:
        print(f"LEAK {label} {output}: {leak}")
    return len(found)


def persons(trace):
    """Users, hosts and devices, which reports with names of functions do not show either."""
    db = sqlite3.connect(trace)
    found = {text for sql in ("SELECT hostname FROM process", "SELECT cwd FROM process", "SELECT uuid FROM device")
             for (text,) in db.execute(sql) if text}
    db.close()
    return {text for text in found if len(text) > 3}


def check_trace(gmanalyze, model, trace, companion, pool):
    # The trace's own name is private, too.
    private = "s_e_c_r_e_t_trace.db"
    shutil.copy(trace, private)
    names = private_names(private)
    runs = {stem: pool.submit(analyze, gmanalyze, model, traces, level, stem) for stem, level, traces in [
        ("plain", None, [private]), ("redacted", "names", [private]), ("several", "names", [private, companion]),
        ("paths", "paths", [private])]}
    outputs = {stem: run.result() for stem, run in runs.items()}
    assert any(True for o in outputs["plain"] for _ in leaks(decoded(o), names)), f"{trace}: nothing private in plain reports"
    bad = check(outputs["redacted"], names | {"s_e_c_r_e_t_trace"}, trace)
    if findings("redacted") != findings("plain"):
        print(f"OTHER FINDINGS {trace}")
        bad += 1
    bad += check(outputs["several"], names | {"s_e_c_r_e_t_trace"}, f"{trace} (several)")
    return bad + check(outputs["paths"], persons(private), f"{trace} (paths)"), len(names)


def main():
    gmanalyze, model, *given = sys.argv[1:]
    listed = subprocess.run([gmanalyze, "--list-rules", "--format", "json"], capture_output=True, text=True, check=True).stdout
    # As they lie in JSON, without the quotes.
    rule_pages.extend(json.dumps(rule["explain"], ensure_ascii=False)[1:-1] for rule in json.loads(listed))
    smallest = min(given, key=os.path.getsize)
    # Nearly all of the time is gmanalyze's.
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = [check_trace(gmanalyze, model, trace, smallest, pool) for trace in given]
    bad, searched = map(sum, zip(*results))
    print(f"{len(given)} traces, {searched} names, {bad} leaks")
    sys.exit(bad > 0)


main()
