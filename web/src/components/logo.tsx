/** The logo: a room and a dot that pops into it. */

export function Logo() {
  return (
    <svg class="logo" viewBox="0 0 32 32" aria-hidden="true">
      <path class="logo-room" d="M17 5H10a6 6 0 0 0-6 6v11a6 6 0 0 0 6 6h11a6 6 0 0 0 6-6v-7" />
      <circle class="logo-dot" cx="24" cy="8" r="5" />
    </svg>
  );
}
