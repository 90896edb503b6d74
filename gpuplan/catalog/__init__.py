"""The catalog: CSV tables in ``data/`` as frozen records, each value with its source; prices and rules of platforms among them.

``load_catalog()`` gives the shipped one, with folders of your own on top of it if you name them.
"""

from gpuplan.catalog.catalog import Catalog, Item, Row
from gpuplan.catalog.loading import load_catalog
from gpuplan.catalog.tables import CatalogError
from gpuplan.catalog.time_zones import SEASONS, offset_min, zone_of

__all__ = ["SEASONS", "Catalog", "CatalogError", "Item", "Row", "load_catalog", "offset_min", "zone_of"]
