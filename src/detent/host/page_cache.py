"""Pages that were just fetched: a model that looks twice does not make the network do so."""

from collections.abc import Callable

from detent.ports import Page

LASTS = 15 * 60.0
MOST_PAGES = 20
MOST_BYTES = 10 * 1024 * 1024


class PageCache:
    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._pages: dict[tuple[str, int], tuple[float, Page]] = {}
        """By address and the size that was wanted, the oldest first."""

    def find(self, url: str, most: int) -> Page | None:
        at, page = self._pages.get((url, most), (0.0, None))
        return page if page is not None and self._now() - at < LASTS else None

    def keep(self, url: str, most: int, page: Page) -> None:
        self._pages.pop((url, most), None)
        self._pages[url, most] = self._now(), page
        while len(self._pages) > MOST_PAGES or self._size() > MOST_BYTES:
            del self._pages[next(iter(self._pages))]

    def _size(self) -> int:
        return sum(len(page.body) for _, page in self._pages.values())
