/** Whether this browser lets the page use a camera. It does not over plain HTTP. */
export function canScan(): boolean {
  return typeof navigator.mediaDevices?.getUserMedia === 'function';
}
