/** Horizontal swipes with one finger. */
import { useRef } from 'preact/hooks';

export type Direction = 'left' | 'right';

const minDistance = 50;

/** Returns the event handlers of the element. */
export function useSwipe(onSwipe: (direction: Direction) => void) {
  const start = useRef<Touch>(undefined);
  return {
    onTouchStart({ touches, target }: TouchEvent): void {
      const isPlayer = target instanceof HTMLMediaElement;
      start.current = touches.length > 1 || isPlayer || isZoomed() ? undefined : touches[0];
    },
    onTouchEnd({ changedTouches: [end] }: TouchEvent): void {
      const direction = start.current && end && directionOf(start.current, end);
      start.current = undefined;
      if (direction) onSwipe(direction);
    },
  };
}

/** Then a swipe moves the visible part of the page. */
const isZoomed = () => (visualViewport?.scale ?? 1) > 1.01;

function directionOf(start: Touch, end: Touch): Direction | undefined {
  const [x, y] = [end.clientX - start.clientX, end.clientY - start.clientY];
  if (Math.abs(x) < minDistance || Math.abs(x) < 2 * Math.abs(y)) return undefined;
  return x < 0 ? 'left' : 'right';
}
