"""As much of `pip download` as fetches one wheel that is named with its digest."""

import hashlib
import os
import re
import sys
from urllib.request import urlopen

given = dict(zip(sys.argv, sys.argv[1:], strict=False))
index = os.environ["PIP_INDEX_URL"]
with open(given["--requirement"], encoding="ascii") as wanted:
    package, version, digest = re.split("==| --hash=sha256:", wanted.read().strip())
page = urlopen(f"{index}/{package}/").read().decode()
(path,) = re.findall(f'href="([^"]*-{version}-[^"]*)"', page)
wheel = urlopen(index.removesuffix("/simple") + path).read()
if hashlib.sha256(wheel).hexdigest() != digest:
    sys.exit("ERROR: another digest")
with open(os.path.join(given["--dest"], os.path.basename(path)), "wb") as file:
    file.write(wheel)
