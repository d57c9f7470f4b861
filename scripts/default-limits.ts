/** The limits of a server with default settings, for the documents in the repository. */
import { readConfig } from '../src/config.ts';
import { type LimitPhrases, limitPhrases, serverLimits } from '../src/http/page/server-limits.ts';

export const defaultLimits = serverLimits(readConfig({}));

export const defaultPhrases: LimitPhrases = {
  ...byDefault(limitPhrases(defaultLimits)),
  keyRule: 'An API key is optional, unless the operator of the server requires one.',
  createRule: 'The operator of a server can limit who may create rooms.',
  limitsNote: 'The operator of a server can change the defaults. The page /docs of a server shows its own limits.',
};

function byDefault(phrases: LimitPhrases): LimitPhrases {
  const marked = Object.entries(phrases).map(([name, phrase]) => [name, `${phrase} by default`]);
  return Object.fromEntries(marked);
}
