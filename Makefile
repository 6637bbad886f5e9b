# Podium. `make help` lists the targets; everything is built under build/.
VERSION  := 0.1.0
# SANITIZE=1 builds the same programs with ASan and UBSan in a separate folder. There it also builds
# the fuzz targets, if clang is installed.
SANITIZE ?=
# V=1 prints the commands.
V        ?=
quietly   = $(if $(V),,@echo '  $(1)  $(patsubst $(B)/%,%,$@)';)
B        := build/$(if $(SANITIZE),sanitize,release)
CC       ?= gcc
PACKAGES := libmariadb yaml-0.1 libzip zlib libsodium jansson libseccomp

PACKAGE_CFLAGS := $(shell pkg-config --cflags $(PACKAGES) pangocairo)

CFLAGS   ?= -O2 -g
override CFLAGS += -std=c17 -D_GNU_SOURCE -DPODIUM_VERSION='"$(VERSION)"' -I. -I$(B) \
  -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wvla -Werror \
  -fstack-protector-strong -fPIE $(PACKAGE_CFLAGS)
# An RPATH also applies to the libraries that the programs' libraries need; the newer RUNPATH does
# not.
override LDFLAGS += -pie -Wl,-rpath,'$$ORIGIN/lib' -Wl,--disable-new-dtags -Wl,-z,relro,-z,now
LIBS     := $(shell pkg-config --libs $(PACKAGES)) -lm -lpthread
# Only programs that send web requests need libcurl.
CURL     := -Wl,--as-needed $(shell pkg-config --libs libcurl)
WEB_LIBS := $(CURL) -lcrypto -lfido2 -lqrencode $(shell pkg-config --libs pangocairo fontconfig) -lfcgi -lcmark-gfm-extensions -lcmark-gfm
ifdef SANITIZE
# With clang, the fuzz targets share the objects. Without optimization, a build takes a third of the
# time. Other versions of clang may warn about more, so only gcc's warnings are errors.
CC := $(or $(shell command -v clang),$(CC))
comma := ,
override CFLAGS += -fsanitize=address,undefined $(if $(filter %clang,$(CC)),-fsanitize=fuzzer-no-link) -fno-omit-frame-pointer -fno-sanitize-recover=undefined -O0 -g1 -Wno-error
# As a shared library, clang's runtime makes every link cheaper. gcc takes a shared one anyway.
SHARED_ASAN := $(if $(filter %clang,$(CC)),-shared-libasan -Wl$(comma)-rpath$(comma)$(shell $(CC) -print-runtime-dir))
# gold, a part of binutils, needs half of ld's time. tests/lib/cheap_passwords.c replaces
# crypto_pwhash_str.
override LDFLAGS += -fsanitize=address,undefined -fuse-ld=gold $(SHARED_ASAN) -Wl,--wrap=crypto_pwhash_str
else
override CFLAGS += -D_FORTIFY_SOURCE=2
endif

TEMPLATES := $(wildcard templates/*.html)
TEMPLATE_OBJECTS := $(TEMPLATES:templates/%.html=$(B)/templates/%.o)
# The objects of a folder and of its subfolders.
objects    = $(patsubst %.c,$(B)/%.o,$(wildcard $(1)/*.c $(1)/*/*.c))
PROGRAMS  := $(B)/podium-web $(B)/podium-worker $(B)/podium-run $(B)/podium-hooks $(B)/podium-admin $(B)/podium
SEALED    := $(B)/harness/sealed/launch $(B)/harness/sealed/sealed.so
TEST_SOURCES := $(wildcard tests/unit/test_*.c tests/integration/*/test_*.c)
TESTS     := $(TEST_SOURCES:%.c=$(B)/%)
STATUSES  := $(shell grep -o '^[0-9]*' templates/errors/answers.tsv)
ERRORS    := $(foreach form,html json problem,$(STATUSES:%=$(B)/static/errors/%.$(form)))
SHEETS    := $(addprefix $(B)/static/,help.css panel.css submission.css)
SITE      := $(addprefix $(B)/,$(shell find static -type f)) $(SHEETS) $(ERRORS)
PACKED    := $(addsuffix .gz,$(filter %.css %.js,$(SITE)))
FUZZERS   := $(patsubst %.c,$(B)/%,$(wildcard tests/fuzz/*.c))

.PHONY: all podium help install uninstall deb run test mutants format editor compile_commands.json test-requests test-scale test-soak tests test-programs fuzz fuzzers bench bench-data bench-terminal bench-claims bench-scale bench-growth bench-turnaround bench-cpu bench-isolated bench-browser worker-bundle release clean
all: $(PROGRAMS) $(SEALED) $(SITE) $(PACKED) ## build every program
podium: $(B)/podium ## build the participants' command alone
tests: all $(TESTS) ## build every program and every test
test-programs: all $(filter $(B)/tests/integration/%,$(TESTS))

help: ## list the targets
	@awk -F':.*## ' '/^[a-z_.-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: all ## start Podium in the foreground (./dev run installs what it needs first)
	@B=$(B) exec ./run

test: ## run every test (./dev test installs what they need first, and runs some or those that failed)
	@tests/run

format: ## format C, CUDA C++ and Python (needs clang-format-14; fetches ruff)
	@tests/style/format.test.py --write

compile_commands.json: ## list the compiler's calls, for editors
	@$(MAKE) -Bn --no-print-directory V=1 tests | sed -n -e 's/[\"]/\\&/g' \
	  -e 's|.* -c -o [^ ]* \([^ ]*\)$$|{ "directory": "$(CURDIR)", "file": "\1", "command": "&" },|p' \
	  | sed -e '1s/^/[/' -e '$$s/,$$/]/' > $@

fuzz: ## feed made-up bytes to every parser until Ctrl-C, or TARGET=zip, SECONDS=600 (needs clang)
	@tests/fuzz/run $(if $(SECONDS),--seconds $(SECONDS)) $(TARGET)

mutants: ## put each bug of tests/mutants into a copy and count how many the tests notice (M=WORD: some; takes an hour)
	@tests/mutants/run $(M)

test-soak: all ## run 2,000 jobs amid random faults (SOAK_JOBS=N: as many), and each kill of the kill matrix ten times
	@B=$(B) SOAK_JOBS=$(or $(SOAK_JOBS),2000) tests/faults/soak.test.py
	@B=$(B) FAULT_ROUNDS=$(or $(FAULT_ROUNDS),10) tests/faults/kill.test.py

test-requests: all ## send 200,000 invented requests to every call of /api/v1 (REQUESTS=N: as many), and compare podium-web's memory before and after
	@B=$(B) tests/scale/requests.py $(or $(REQUESTS),200000)

test-scale: tests $(B)/tests/scale/writers ## run the tests that take long: whole sites installed, restored, upgraded, killed host by host; Slurm (./dev test-scale installs what they need)
	@B=$(B) tests/scale/run

editor: ## build static/editor.js from editor/ (needs npm)
	@cd editor && npm ci --ignore-scripts --no-audit --no-fund --silent && node build.mjs

bench: all $(B)/tests/bench/bare $(B)/tests/bench/open ## measure every page against a bare FastCGI program and a file (needs wrk; PAGES=WORD: some)
	@B=$(B) SIZE=$(SIZE) tests/bench/run $(PAGES)

bench-data: all ## start a Podium of its own with 100,000 submissions (SIZE=N: as many) in build/bench
	@B=$(B) SIZE=$(SIZE) tests/bench/data.py

bench-terminal: all ## measure the leaderboard's page while 200 terminals poll and 20 wait on open connections (needs wrk)
	@B=$(B) SIZE=$(SIZE) tests/bench/terminal.py

bench-claims: all test-programs ## measure what a claim costs with 100,000 jobs waiting
	@B=$(B) tests/bench/claims.py $(THREADS) $(CLAIMS)

bench-scale: all test-programs ## measure claimers, whole jobs and viewers with 1,000,000 submissions (SIZE=N: as many; needs wrk)
	@B=$(B) $(if $(SIZE),SIZE=$(SIZE)) tests/bench/scale.py

bench-growth: all test-programs ## measure pages and claims with 1,000 to 1,000,000 submissions, and draw docs/growth.svg (needs wrk)
	@B=$(B) tests/bench/growth.py $(SIZES)

bench-turnaround: all test-programs ## print where each second of a ranked job goes
	@B=$(B) tests/bench/turnaround.py $(if $(TASK),--task $(TASK)) $(if $(MODE),--mode $(MODE)) $(if $(REPEAT),--repeat $(REPEAT))
	@if [ -n "$(TASK)" ]; then :; elif command -v nvidia-smi > /dev/null; then tests/gpu/cost $(B) --only heavy; \
		else echo "Tasks whose own code takes long are measured only on a GPU."; fi

bench-cpu: all ## measure how much the times of one file spread on the CPU device (JOBS=N: so many ranked jobs a row)
	@B=$(B) tests/bench/cpu.py $(if $(JOBS),$(JOBS),20) '$(ROWS)'

bench-browser: all test-programs ## measure how soon a person sees the main pages (needs ./dev test browser once; RUNS=N: visits of each)
	@B=$(B) RUNS=$(or $(RUNS),5) python3 tests/lib/instance.py node tests/browser/figures.mjs

bench-isolated: ## compare the isolated engine's clock with kernels' own, on the CPU
	@tests/bench/isolated.py

worker-bundle: all ## collect what a GPU host needs to run podium-worker in ./worker-bundle
	@worker/bundle $(B) worker-bundle

# Where `make install` puts the files. DESTDIR= is put before all these paths.
prefix     ?= /usr/local
sysconfdir ?= /etc
install: all ## install everything (DESTDIR=, prefix=/usr/local); then run podium-admin init
	@packaging/install $(B) '$(DESTDIR)' '$(prefix)' '$(sysconfdir)'

uninstall: ## remove what make install has installed (DESTDIR=, prefix=/usr/local)
	@packaging/install --remove '$(DESTDIR)' '$(prefix)'

deb: all ## make a Debian package of it in build/ (needs dpkg-dev; DEB_VERSION=)
	@packaging/debian/build $(B) '$(or $(DEB_VERSION),$(VERSION))' build

release: ## set the version, date the changes, commit and tag (RELEASE=1.2.3)
	@packaging/release '$(RELEASE)'

clean: ## remove everything that was built
	rm -rf build worker-bundle

# Archives take `q`: files in different folders may share a name, and `r` would keep only one.
$(B)/libpodium.a: $(call objects,lib) $(if $(SANITIZE),$(B)/tests/lib/cheap_passwords.o)
	@rm -f $@
	$(call quietly,AR)ar qcs $@ $^

# Each program is a main.o and a library of everything else, which unit tests link as well.
$(B)/libweb.a: $(filter-out %/main.o,$(call objects,cgi)) $(TEMPLATE_OBJECTS) $(B)/docs/help.o
$(B)/libworker.a: $(filter-out %/main.o,$(patsubst %.c,$(B)/%.o,$(wildcard worker/*.c))) $(B)/harness/sealed/plan.o
$(B)/librun.a: $(filter-out %/main.o,$(call objects,worker/run)) $(B)/harness/sealed/plan.o $(B)/harness/isolated/statistics_estimate.o
$(B)/libcommand.a: $(filter-out %/main.o %/left_out.o,$(call objects,cli/podium))
$(B)/libhooks.a: $(filter-out %/main.o,$(call objects,hooks))
$(B)/libweb.a $(B)/libworker.a $(B)/librun.a $(B)/libcommand.a $(B)/libisolated.a $(B)/libsealed.a $(B)/libhooks.a:
	@rm -f $@
	$(call quietly,AR)ar qcs $@ $^

$(B)/podium-web: $(B)/cgi/main.o $(B)/libweb.a $(B)/libpodium.a
	$(call quietly,LD)$(CC) $(LDFLAGS) -o $@ $^ $(WEB_LIBS) $(LIBS)

$(B)/podium-worker: $(B)/worker/main.o $(B)/sql/schema.o $(B)/sql/migrations.o $(B)/libworker.a $(B)/libpodium.a
	$(call quietly,LD)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS) -ldl

$(B)/podium-run: $(B)/worker/run/main.o $(B)/librun.a $(B)/libpodium.a
	$(call quietly,LD)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS) -ldl

$(B)/podium-hooks: $(B)/hooks/main.o $(B)/sql/schema.o $(B)/sql/migrations.o $(B)/libhooks.a $(B)/libpodium.a
	$(call quietly,LD)$(CC) $(LDFLAGS) -o $@ $^ $(CURL) $(LIBS)

$(B)/podium-admin: $(call objects,cli/admin) $(B)/libpodium.a $(B)/sql/migrations.o $(B)/sql/rights.o
	$(call quietly,LD)$(CC) $(LDFLAGS) -o $@ $^ $(CURL) -lcrypto $(LIBS)

# podium also runs on machines without a database, so it is linked only with the libraries that it
# calls.
$(B)/podium: $(B)/cli/podium/main.o $(B)/libcommand.a $(B)/libpodium.a
	$(call quietly,LD)$(CC) $(LDFLAGS) -o $@ $^ $(CURL) $(LIBS) -ldl

# The podium that the site offers for download. It needs no shared library. libcurl.a refers to
# libraries that distributions do not have as static ones: cli/podium/left_out.c says what replaces
# them. -w drops ld's warning about getaddrinfo, which the same file deals with. Sanitizers need
# shared libraries, so builds with them take the release build's program.
STATIC    := $(if $(SANITIZE),build/release,$(B))/podium-static
LEFT_OUT  := gss|GSS_C|ldap|ber|RTMP|libssh2|ssh|sftp|psl|nghttp2|idn2|ZSTD|BrotliDecoder
static_library = $(shell $(CC) -print-file-name=$(1).a)
.PHONY: static release-static
static: $(STATIC).gz $(STATIC).sha256
	@:
ifneq ($(SANITIZE),)
release-static:
	@+$(MAKE) --no-print-directory SANITIZE= static
$(STATIC).gz: release-static ;
$(STATIC).sha256: $(STATIC).gz ;
else
$(B)/libstatic.a: $(filter-out %/left_out.o,$(call objects,cli/podium)) $(call objects,lib)
	@rm -f $@
	$(call quietly,AR)ar qcs $@ $^
$(STATIC): $(B)/cli/podium/left_out.o $(B)/libstatic.a
	$(call quietly,LD)$(CC) $(CFLAGS) -static-pie -Wl,-w,-z,relro,-z,now -s -o $@ $^ \
	  $$(nm -u --quiet $(call static_library,libcurl) | grep -oE '\b($(LEFT_OUT))_?[A-Za-z0-9_]+' | sort -u \
	    | sed -E 's/.*/-Wl,--defsym=&=podium_left_out/; s/((libssh2|ssh)_init=podium_left_out)/\1_start/') \
	  -Wl,--start-group $(foreach one,libcurl libssl libcrypto libjansson libsodium libz,$(call static_library,$(one))) -Wl,--end-group \
	  -lm -lpthread -ldl
$(STATIC).gz: $(STATIC)
	@gzip -9nc $< > $@
$(STATIC).sha256: $(STATIC)
	@cd $(B) && sha256sum podium-static | sed 's/podium-static/podium/' > $(@F)
endif

# Templates become C before anything in cgi/ is compiled, because pages include their prototypes.
$(B)/template-compile: templates/compile.c
	@mkdir -p $(@D)
	$(call quietly,LD)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $<
$(B)/templates/%.c $(B)/templates/%.h: templates/%.html $(B)/template-compile
	@mkdir -p $(@D)
	@$(B)/template-compile $< $(B)/templates/$*.c $(B)/templates/$*.h
$(call objects,cgi): | $(TEMPLATES:templates/%.html=$(B)/templates/%.h)
$(TEMPLATE_OBJECTS): | $(TEMPLATES:templates/%.html=$(B)/templates/%.h)
.SECONDARY: $(TEMPLATES:templates/%.html=$(B)/templates/%.c)

# What browsers load beside pages. A page loads one style sheet, which has only the parts of style.css
# that pages of its kind use. The build removes comments and spare white space from sheets, which
# makes them 10 % shorter when packed, and lines of comments and indentation from scripts. Pages about
# running jobs load live.js, which contains podium.js. nginx sends the scripts and sheets that zopfli
# has packed here, which are 4 % smaller than nginx would pack them.
SCRIPTS := $(filter-out %/editor.js,$(filter %.js,$(SITE)))
$(filter-out %.css $(SCRIPTS) $(ERRORS),$(SITE)): $(B)/%: %
	@mkdir -p $(@D) && cp $< $@
$(B)/static/live.js: static/podium.js
$(SCRIPTS): $(B)/%: % Makefile
	@mkdir -p $(@D) && sed -E '/^\s*\/\/( |$$)/d; s/^\t+//; /^$$/d' $(filter-out $< Makefile,$^) $< > $@
$(B)/static/style.css:      PARTS := everywhere site strip board
$(B)/static/panel.css:      PARTS := everywhere site strip panel
$(B)/static/submission.css: PARTS := everywhere site submission
$(B)/static/help.css:       PARTS := everywhere help
$(filter %.css,$(SITE)): static/style.css Makefile
	@mkdir -p $(@D)
	@awk '/\/\* part: /{on = " $(PARTS) " ~ " " $$3 " "} on' $< \
	  | sed -Ez 's@/\*[^*]*\*+([^/*][^*]*\*+)*/@@g; s/[ \t\n]+/ /g; s/ ?([{};]) ?/\1/g; s/, /,/g; s/: ([^"])/:\1/g; s/;\}/}/g' \
	  > $@
$(ERRORS): templates/errors/answers.tsv templates/errors/page.html templates/errors/answer.awk Makefile
	@mkdir -p $(@D)
	@awk -F'\t' -v answer=$(@F) -f templates/errors/answer.awk $< templates/errors/page.html > $@
$(PACKED): %.gz: %
	@zopfli -c $< > $@

# The pages of docs/ that the site serves as its help: for participants and authors of tasks. Each
# FILE:SECTION in HELP_PARTS is a further page, which begins at this heading of docs/FILE.md.
HELP := first-submission terminal podium check popcorn github-actions contestants timing ranking \
  ranking-page ranking-rules ranking-data api tasks tasks-engine harness harness-isolated \
  harness-own problem-sets publishing contests
HELP_PARTS := api:leaderboards api:contests api:submissions api:administration api:objects \
  api:objects-for-admins tasks:reference
$(B)/help-compile: $(B)/templates/compile_help.o $(B)/templates/help_markup.o \
  $(B)/cgi/render/markdown.o $(B)/cgi/render/html.o $(B)/libpodium.a
	$(call quietly,LD)$(CC) $(LDFLAGS) -o $@ $^ -lcmark-gfm-extensions -lcmark-gfm $(LIBS)
$(B)/docs/help.c: $(B)/help-compile docs/README.md $(HELP:%=docs/%.md) Makefile
	@mkdir -p $(@D)
	@$< $@ $(HELP) $(HELP_PARTS)
$(B)/docs/help.o: $(wildcard docs/*.svg docs/*.png github-action/*)
$(B)/cgi/page/help.o: $(STATIC).gz $(STATIC).sha256
$(B)/cgi/page/help.o: override CFLAGS += -DPODIUM_STATIC='"$(STATIC)"'

# The files that are embedded in programs.
$(B)/cgi/api/openapi.o: docs/api.md $(wildcard docs/openapi/*.json)
# The sources of the engines that the pages show, as lines SOURCE(SYMBOL, PATH) with paths below
# harness/.
SHOWN := harness/zygote.py harness/eval.py harness/eval.cu harness/isolated/build_cu $(wildcard harness/isolated/*.py harness/isolated/*.c harness/isolated/*.h harness/isolated/*.cu harness/sealed/*.py harness/sealed/*.c harness/sealed/*.cu harness/sealed/*.h)
$(B)/cgi/page/engine_source.o: $(B)/cgi/page/engine_source.list $(SHOWN)
$(B)/cgi/page/engine_source.list: $(SHOWN) Makefile
	@mkdir -p $(@D)
	@printf '%s\n' $(foreach path,$(SHOWN:harness/%=%),'SOURCE($(subst /,_,$(subst .,_,$(path))), "$(path)")') > $@
$(B)/lib/task/stock.o: $(filter-out %.pyc harness/isolated harness/sealed,$(wildcard harness/*))
$(B)/worker/run/sandbox/zygote.o: harness/zygote.py $(B)/worker/run/sandbox/enter.so
$(B)/worker/run/sandbox/zygote.o: override CFLAGS += -DSANDBOX_LIBRARY='"$(B)/worker/run/sandbox/enter.so"'
# Python loads this library, so it has no sanitizers: their libraries are missing in Python.
$(B)/worker/run/sandbox/enter.so: worker/run/sandbox/enter.c worker/run/sandbox/enter.h
	@mkdir -p $(@D)
	$(call quietly,LD)$(CC) -O2 -std=c17 -D_GNU_SOURCE -I. -fPIC -shared -o $@ $<
ENGINE := $(wildcard harness/isolated/*.py harness/sealed/*.py)
ENGINE_PROGRAMS := $(B)/harness/isolated/native.so $(SEALED)
# The engines' bytecode, X.pyc in the build folder for each X.py. Without it, a judge would compile
# its files for 37 ms at each start. One process compiles all, so that a second build makes the same
# bytes. Without python3, the files are empty, and so is bytecode.tag, the version that they are for.
PRETENDED := tests/lib/pretended_sealed
ENGINE_PYTHON := $(ENGINE) harness/eval.py $(wildcard $(addprefix $(PRETENDED)/,judge.py builder.py pretended.py))
$(B)/harness/bytecode.tag: worker/run/engine/compile_engine.py $(ENGINE_PYTHON)
	@mkdir -p $(sort $(dir $(ENGINE_PYTHON:%=$(B)/%)))
	@: | tee $(ENGINE_PYTHON:%=$(B)/%c)
	@if command -v python3 > /dev/null; then PYTHONHASHSEED=0 python3 $< $(B) $(ENGINE_PYTHON); else : > $@; fi
$(B)/worker/run/engine/files.o: $(B)/worker/run/engine/files.list $(B)/harness/bytecode.tag $(ENGINE) harness/eval.py $(ENGINE_PROGRAMS)
engine_files = -DENGINE_LIST='"$(1)"' -DSEALED_LAUNCH='"$(2)"' -DENGINE_LIBRARY='"$(B)/harness/isolated/native.so"' \
  -DSEALED_LIBRARY='"$(B)/harness/sealed/sealed.so"' -DBUILD_FOLDER='"$(B)"'
$(B)/worker/run/engine/files.o: override CFLAGS += $(call engine_files,worker/run/engine/files.list,$(B)/harness/sealed/launch)
$(B)/worker/run/engine/files.list: $(ENGINE) Makefile
	@mkdir -p $(@D)
	@printf 'MODULE(%s, %s, "%s")\n' $(foreach path,$(ENGINE),$(subst /, ,$(path:harness/%.py=%)) $(path)) > $@
$(B)/sql/migrations.o: $(B)/sql/migrations.list $(wildcard sql/*.sql)
$(B)/sql/rights.o: sql/worker_rights.sql
$(B)/sql/migrations.list: $(wildcard sql/*.sql)
	@mkdir -p $(@D)
	@printf 'MIGRATION(%s)\n' $(sort $(basename $(notdir $(wildcard sql/[0-9]*.sql)))) > $@

# Python loads this library too, so it has no sanitizers. podium-run gives it to the judge and the
# contestants.
ISOLATED := $(wildcard harness/isolated/*.c)
$(B)/harness/isolated/native.so: $(ISOLATED) $(wildcard harness/isolated/*.h)
	@mkdir -p $(@D)
	$(call quietly,LD)$(CC) -O2 -std=c17 -D_GNU_SOURCE -fPIC -shared -Wl,-soname,$(@F) -o $@ $(ISOLATED) -ldl -lm
# The builder loads sealed.so and native.so. sealed.so is linked with native.so instead of containing
# its code, so that the isolated engine's state exists once.
RECORDER := $(filter-out $(addprefix harness/sealed/,launch.c graph.c trace.c),$(wildcard harness/sealed/*.c))
$(B)/harness/sealed/sealed.so: $(RECORDER) $(wildcard harness/sealed/*.h harness/isolated/*.h) $(B)/harness/isolated/native.so
	@mkdir -p $(@D)
	$(call quietly,LD)$(CC) -O2 -std=c17 -D_GNU_SOURCE -I. -fPIC -shared -Wl,-soname,$(@F) -Wl,-rpath,'$$ORIGIN:$$ORIGIN/../isolated:$$ORIGIN/lib' \
	  -o $@ $(RECORDER) $(B)/harness/isolated/native.so $(shell pkg-config --libs jansson libsodium) -ldl -lpthread
$(B)/libisolated.a: $(call objects,harness/isolated)
$(B)/libsealed.a: $(filter-out $(B)/harness/sealed/launch.o,$(call objects,harness/sealed))
$(B)/harness/sealed/launch: $(B)/harness/sealed/launch.o $(B)/libsealed.a $(B)/libisolated.a
	$(call quietly,LD)$(CC) $(LDFLAGS) -Wl,-rpath,'$$ORIGIN' -o $@ $^ $(shell pkg-config --libs jansson libsodium) -ldl -lm
# The code of native.so as one object, for the programs of tasks in CUDA C++.
$(B)/harness/isolated/native.o: $(ISOLATED) $(wildcard harness/isolated/*.h)
	@mkdir -p $(@D)
	$(call quietly,LD)$(CC) -O2 -std=c17 -D_GNU_SOURCE -fPIC -r -nostdlib -o $@ $(ISOLATED)
$(B)/worker/run/engine/isolated_cu.o: $(wildcard harness/isolated/*.cu harness/isolated/*.h harness/sealed/*.cu harness/sealed/*.h) harness/isolated/build_cu harness/isolated/compile_cu $(B)/harness/isolated/native.o
$(B)/worker/run/engine/isolated_cu.o: override CFLAGS += -DNATIVE_OBJECT='"$(B)/harness/isolated/native.o"'

# A test is linked with the library whose headers it includes.
including = $(patsubst %.c,$(B)/%,$(if $(TEST_SOURCES),$(shell grep -lE '^#include "$(1)' $(TEST_SOURCES))))
$(call including,(cgi|templates)/): $(B)/libweb.a
$(filter $(B)/tests/integration/library/%,$(TESTS)): $(B)/libweb.a
$(call including,worker/run/): $(B)/librun.a
$(call including,cli/podium/): $(B)/libcommand.a
$(call including,hooks/): $(B)/libhooks.a
$(call including,worker/[a-z_]+\.h): $(B)/libworker.a
$(call including,harness/isolated/): $(B)/libisolated.a
$(call including,harness/sealed/): $(B)/libsealed.a $(B)/libisolated.a
$(B)/tests/unit/test_plan.o: tests/fuzz/corpus/plan/all-kinds
# A pretended CUDA driver, which these tests load by its name.
$(B)/tests/unit/test_driver $(B)/tests/unit/test_graph $(B)/tests/unit/test_images $(B)/tests/unit/test_launch $(B)/tests/unit/test_record: | $(B)/tests/unit/libcuda.so.1
$(B)/tests/unit/test_launch: | $(B)/harness/sealed/launch
PRETEND := tests/lib/pretend_cuda.c tests/lib/pretend_graph.c
$(B)/tests/unit/libcuda.so.1 $(B)/tests/fuzz/libcuda.so.1: $(PRETEND) tests/lib/pretend_cuda.h harness/isolated/driver.h harness/sealed/driver.h harness/sealed/cupti.h
	@mkdir -p $(@D)
	$(call quietly,LD)$(CC) $(filter-out -fPIE -fsanitize%,$(CFLAGS)) -fPIC -shared -Wl,-soname,$(@F) -o $@ $(PRETEND) -lpthread
# A pretended CUPTI.
$(B)/tests/unit/test_graph $(B)/tests/unit/test_images $(B)/tests/unit/test_launch: | $(B)/tests/unit/libcupti.so.13
$(B)/tests/unit/libcupti.so.13: tests/lib/pretend_cupti.c tests/lib/pretend_cupti.h tests/lib/pretend_cuda.h harness/isolated/driver.h harness/sealed/driver.h harness/sealed/cupti.h
	@mkdir -p $(@D)
	$(call quietly,LD)$(CC) $(filter-out -fPIE -fsanitize%,$(CFLAGS)) -fPIC -shared -Wl,-soname,$(@F) -o $@ $<
# Four tests compare Podium's declarations with NVIDIA's headers: those of the system, or those that
# tests/lib/tools.py fetched.
TOOLKIT_TESTS := $(B)/tests/unit/test_driver.o $(B)/tests/unit/test_graph.o $(B)/tests/unit/test_images.o $(B)/tests/unit/test_device.o
$(TOOLKIT_TESTS): $(wildcard $(addprefix build/tools/cuda/nvidia/cu13/include/,cuda.h cupti.h nvml.h))
$(TOOLKIT_TESTS): override CFLAGS += -idirafter build/tools/cuda/nvidia/cu13/include
# The toolkit has CUPTI's headers in a folder of their own.
$(B)/tests/unit/test_images.o: override CFLAGS += -idirafter /usr/local/cuda/include -idirafter /usr/local/cuda/extras/CUPTI/include
$(TESTS:=.o): | $(TEMPLATES:templates/%.html=$(B)/templates/%.h)
$(TESTS): %: %.o $(B)/libpodium.a
	$(call quietly,LD)$(CC) $(LDFLAGS) -o $@ -Wl,--start-group $^ -Wl,--end-group -lcmocka $(WEB_LIBS) $(LIBS) -ldl

# A podium-run whose sealed engine needs no GPU.
$(B)/$(PRETENDED)/files.list: $(B)/worker/run/engine/files.list
	@mkdir -p $(@D)
	@sed -E 's|harness/sealed/builder.py|$(PRETENDED)/builder.py|; s|"harness/isolated/judge.py"|"$(PRETENDED)/judge.py"|' $< > $@
	@printf 'MODULE(%s, %s, "%s")\n' isolated real_judge harness/isolated/judge.py sealed pretended $(PRETENDED)/pretended.py >> $@
$(B)/$(PRETENDED)/launch: $(wildcard $(PRETENDED)/*.py) $(ENGINE) $(SEALED)
	@$(PRETENDED)/pack.py $(B) $@
$(B)/$(PRETENDED)/files.o: worker/run/engine/files.c $(B)/$(PRETENDED)/files.list $(B)/$(PRETENDED)/launch $(B)/harness/bytecode.tag
	@mkdir -p $(@D)
	$(call quietly,CC)$(CC) $(CFLAGS) $(call engine_files,$(PRETENDED)/files.list,$(B)/$(PRETENDED)/launch) -c -o $@ $<
$(B)/tests/podium-run: $(B)/worker/run/main.o $(B)/$(PRETENDED)/files.o $(B)/librun.a $(B)/libpodium.a
	$(call quietly,LD)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS) -ldl
test-programs: $(B)/tests/podium-run

# libFuzzer provides main(). It needs the sanitizers' static runtime.
fuzzers: $(FUZZERS)
$(FUZZERS:=.o): | $(TEMPLATES:templates/%.html=$(B)/templates/%.h)
$(B)/tests/fuzz/sealed: | $(B)/tests/fuzz/libcuda.so.1
$(FUZZERS): %: %.o $(B)/libweb.a $(B)/libworker.a $(B)/librun.a $(B)/libcommand.a $(B)/libisolated.a $(B)/libsealed.a $(B)/libhooks.a $(B)/libpodium.a
	$(call quietly,LD)$(CC) $(filter-out $(SHARED_ASAN) -fuse-ld=gold,$(LDFLAGS)) -fsanitize=fuzzer -o $@ -Wl,--start-group $^ -Wl,--end-group $(WEB_LIBS) $(LIBS) -ldl

$(B)/tests/bench/bare: $(B)/tests/bench/bare.o $(B)/libpodium.a
	$(call quietly,LD)$(CC) $(LDFLAGS) -o $@ $^ $(WEB_LIBS) $(LIBS)

$(B)/tests/scale/writers: $(B)/tests/scale/writers.o $(B)/libpodium.a
	$(call quietly,LD)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS)

$(B)/tests/bench/open: $(B)/tests/bench/open.o
	$(call quietly,LD)$(CC) $(LDFLAGS) -o $@ $^ -lm

$(B)/%.o: $(B)/%.c
	$(call quietly,CC)$(CC) $(CFLAGS) -MMD -MP -c -o $@ $<
$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(call quietly,CC)$(CC) $(CFLAGS) -MMD -MP -c -o $@ $<

-include $(shell find $(B) -name '*.d' 2>/dev/null)
