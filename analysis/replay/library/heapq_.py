"""`heapq`: the same heaps, step by step."""

from typing import Any


def _down(heap: Any, start: int, place: int) -> None:
    item = heap[place]
    while place > start:
        parent = (place - 1) // 2
        if not item < heap[parent]:
            break
        heap[place] = heap[parent]
        place = parent
    heap[place] = item


def _up(heap: Any, place: int) -> None:
    end, start, item = len(heap), place, heap[place]
    child = 2 * place + 1
    while child < end:
        right = child + 1
        if right < end and not heap[child] < heap[right]:
            child = right
        heap[place] = heap[child]
        place = child
        child = 2 * place + 1
    heap[place] = item
    _down(heap, start, place)


def heappush(heap: Any, item: Any) -> None:
    heap.append(item)
    _down(heap, 0, len(heap) - 1)


def heappop(heap: Any) -> Any:
    last = heap.pop()
    if not heap:
        return last
    first = heap[0]
    heap[0] = last
    _up(heap, 0)
    return first


def heapify(heap: Any) -> None:
    for place in reversed(range(len(heap) // 2)):
        _up(heap, place)


def nlargest(n: int, values: Any, key: Any = None) -> Any:
    return sorted(values, key=key, reverse=True)[:n] if key else sorted(values, reverse=True)[:n]


def nsmallest(n: int, values: Any, key: Any = None) -> Any:
    return sorted(values, key=key)[:n] if key else sorted(values)[:n]
