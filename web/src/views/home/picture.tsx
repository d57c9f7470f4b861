/** What it does, without words: a dot leaves one device and pops up on the other. */

export function Picture() {
  return (
    <svg class="picture" viewBox="0 0 320 180" aria-hidden="true">
      <rect class="picture-room" x="8" y="8" width="304" height="164" rx="28" />
      <g class="picture-device">
        <rect x="52" y="58" width="104" height="66" rx="8" />
        <path d="M40 132h128" />
      </g>
      <g class="picture-device">
        <rect x="222" y="50" width="48" height="86" rx="10" />
        <path d="M240 127h12" />
      </g>
      <path class="picture-way" d="M104 91C140 20 200 20 246 88" />
      <circle class="picture-from" cx="104" cy="91" r="8" />
      <circle class="picture-to" cx="246" cy="88" r="8" />
      <circle class="picture-dot" r="8" />
    </svg>
  );
}
