/** One thing to look at. */
import type { Config, Inspection } from '../../../config.ts';
import type { Finding } from './finding.ts';

export interface Patient {
  settings: Inspection;
  /** Where people reach the server: as was said, as the settings say, or on this machine. */
  address: Address | undefined;
  apiKey: string | undefined;
}

export interface Address {
  url: string;
  from: '--url' | 'POPROOM_PUBLIC_URL' | 'PORT';
}

/** Nothing where it does not apply. */
export type Look = (config: Config, patient: Patient) => Promise<readonly Finding[]> | readonly Finding[];

export interface Check {
  name: string;
  /** Settings without which there is nothing to look at; where one of them cannot be, that is told already. */
  needs: readonly (keyof Config)[];
  look: Look;
}
