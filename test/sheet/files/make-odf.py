"""Makes odfpy.ods, a sheet of a foreign writer. Needs odfpy (pip). Run it in this folder: python3 make-odf.py odfpy.ods"""

import sys
from odf.opendocument import OpenDocumentSpreadsheet
from odf.table import Table, TableRow, TableCell, CoveredTableCell
from odf.text import P, S, A
from odf.office import Annotation
from odf.style import Style, TableProperties
d=OpenDocumentSpreadsheet()
hid=Style(name='hid',family='table'); hid.addElement(TableProperties(display='false')); d.automaticstyles.addElement(hid)
def cell(text=None,**k):
    c=TableCell(**k)
    if text is not None: c.addElement(P(text=text))
    return c
t=Table(name='Prompts')
def row(*cells,**k):
    r=TableRow(**k)
    for c in cells: r.addElement(c)
    t.addElement(r)
S_=lambda x: cell(x,valuetype='string')
row(S_('prompt'),S_('seed'),S_('cfg'),S_('sku'),S_('when'),S_('wide'))
two=TableCell(valuetype='string'); p=P(text='a red'); p.addElement(S(c=2)); p.addText('fox'); two.addElement(p); two.addElement(P(text='in snow'))
row(two,cell('9,007',valuetype='float',value='9007'),cell('7.5',valuetype='float',value='7.5'),cell('007',valuetype='float',value='7'),cell('21.11.26',valuetype='date',datevalue='2026-11-21'),cell('TRUE',valuetype='boolean',booleanvalue='true'))
link=TableCell(valuetype='string'); q=P(); q.addElement(A(href='https://a.example/b.png',text='an owl')); link.addElement(q)
an=Annotation(); an.addElement(P(text='a note')); link.addElement(an)
row(link,cell('4',valuetype='float',value='4',numbercolumnsrepeated='2'),S_('B2'),TableCell(),cell('25 %',valuetype='percentage',value='0.25'),visibility='filter')
t.addElement(TableRow(numberrowsrepeated='1048570'))
d.spreadsheet.addElement(t)
e=Table(name='Notes'); r=TableRow(); r.addElement(S_('read me')); e.addElement(r); d.spreadsheet.addElement(e)
h=Table(name='Secret',stylename=hid); r=TableRow(); r.addElement(S_('hidden')); h.addElement(r); d.spreadsheet.addElement(h)
d.save(sys.argv[1])
