"""Compiles the engines' Python files to bytecode, for the build.

compile_engine.py OUT FILE...    makes OUT/FILEc for each FILE, and OUT/harness/bytecode.tag: the
                                 tag of this Python in names of bytecode, such as cpython-311
"""

import os
import py_compile
import sys

out, *paths = sys.argv[1:]
for path in paths:
	# podium-run writes source and bytecode together, so the interpreter need not compare them. The
	# bytecode needs no path of the source (dfile), because an import sets it.
	py_compile.compile(
		path,
		f"{out}/{path}c",
		dfile=os.path.basename(path),
		doraise=True,
		invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
	)
with open(f"{out}/harness/bytecode.tag", "w") as stream:
	stream.write(sys.implementation.cache_tag)
