/** Whether this browser can read a QR code through the camera. */
export function canScan(): boolean {
  return 'BarcodeDetector' in window && typeof navigator.mediaDevices?.getUserMedia === 'function';
}
