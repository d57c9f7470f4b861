/** Listens to an event of the window until the returned function is called, which an effect can return. */
export function listen<K extends keyof WindowEventMap>(type: K, listener: (event: WindowEventMap[K]) => void) {
  addEventListener(type, listener);
  return () => removeEventListener(type, listener);
}
