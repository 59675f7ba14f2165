# Reads a workbook with nothing of ours, and prints its sheets as JSON. Used by xlsx-export.test.ts.

import json
import sys
import zipfile
from xml.etree import ElementTree

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
REL = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"


def parse(archive, name):
    return ElementTree.fromstring(archive.read(name))


def value_of(cell):
    assert cell.find(MAIN + "f") is None, "a formula in " + cell.get("r")
    if cell.get("t") == "inlineStr":
        return "".join(cell.find(MAIN + "is").itertext())
    return float(cell.find(MAIN + "v").text)


def sheet_of(archive, name, path):
    root = parse(archive, path)
    cells = {c.get("r"): value_of(c) for c in root.iter(MAIN + "c")}
    rels = path.replace("worksheets/", "worksheets/_rels/") + ".rels"
    targets = {}
    if rels in archive.namelist():
        targets = {r.get("Id"): r.get("Target") for r in parse(archive, rels)}
    links = {h.get("ref"): targets[h.get(REL + "id")] for h in root.iter(MAIN + "hyperlink")}
    pane = root.find(".//" + MAIN + "pane")
    return {"name": name, "cells": cells, "links": links, "frozen": pane is not None and pane.get("state") == "frozen"}


with zipfile.ZipFile(sys.argv[1]) as archive:
    assert archive.testzip() is None
    for part in archive.namelist():
        if part.endswith((".xml", ".rels")):
            parse(archive, part)
    relations = {r.get("Id"): r.get("Target") for r in parse(archive, "xl/_rels/workbook.xml.rels")}
    sheets = [
        sheet_of(archive, s.get("name"), "xl/" + relations[s.get(REL + "id")])
        for s in parse(archive, "xl/workbook.xml").iter(MAIN + "sheet")
    ]
    pictures = sum(part.startswith("xl/media/") for part in archive.namelist())
    print(json.dumps({"sheets": sheets, "pictures": pictures}))
