/** What every response has, whichever way it is sent. */
import { corsHeaders } from './cors.ts';

export const fixedHeaders = {
  ...corsHeaders,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};
