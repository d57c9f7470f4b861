/** An animation: a dot moves from one device to another. */

export function Illustration() {
  return (
    <svg class="illustration" viewBox="0 0 320 180" aria-hidden="true">
      <rect class="illustration-room" x="8" y="8" width="304" height="164" rx="28" />
      <g class="illustration-device">
        <rect x="52" y="58" width="104" height="66" rx="8" />
        <path d="M40 132h128" />
      </g>
      <g class="illustration-device">
        <rect x="222" y="50" width="48" height="86" rx="10" />
        <path d="M240 127h12" />
      </g>
      <path class="illustration-path" d="M104 91C140 20 200 20 246 88" />
      <circle class="illustration-from" cx="104" cy="91" r="8" />
      <circle class="illustration-to" cx="246" cy="88" r="8" />
      <circle class="illustration-dot" r="8" />
    </svg>
  );
}
