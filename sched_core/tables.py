"""Rows of tables, as exact numbers and points in time: what readers of traces are made of."""

from sched_core.workload.cells import cell
from sched_core.workload.columns import FIELDS, Clock, Columns
from sched_core.workload.further import with_numbers
from sched_core.workload.record import Record, in_order, order_note, requests
from sched_core.workload.row import Kind, Layout, Row
from sched_core.workload.stamps import Moment, Unit, date, since_1970

__all__ = [
    "FIELDS",
    "Clock",
    "Columns",
    "Kind",
    "Layout",
    "Moment",
    "Record",
    "Row",
    "Unit",
    "cell",
    "date",
    "in_order",
    "order_note",
    "requests",
    "since_1970",
    "with_numbers",
]
