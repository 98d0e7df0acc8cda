// The steps of a rotation, with their consequences: OpenID Connect takes one, SAML two, because the other side has to read the metadata again.
import type { KeyInfo } from '../../keys/keyring.ts';
import type { KeyUse } from '../../keys/rotation.ts';
import { TITLES } from './console-parts.ts';

export interface Rotation {
  use: KeyUse;
  step: 'rotate' | 'publish' | 'activate';
  title: string;
  /** The title of the page that asks. */
  question: string;
  /** The consequence. */
  lead: string;
  button: string;
}

const upstream = (use: 'saml-sp' | 'saml-sp-encryption'): Rotation[] => [
  {
    use,
    step: 'publish',
    title: `${TITLES[use]}, first step`,
    question: 'Publish the next certificate for identity providers?',
    button: 'Publish next certificate',
    lead: 'Publishes the next certificate in the metadata at /saml/sp/metadata. Then ask each identity provider to update it.',
  },
  {
    use,
    step: 'activate',
    title: `${TITLES[use]}, second step`,
    question: 'Activate the next key for identity providers?',
    button: 'Activate key',
    lead: 'Uses the published key. Identity providers that haven’t updated the metadata don’t know it.',
  },
];

export const ROTATIONS: readonly Rotation[] = [
  {
    use: 'oidc',
    step: 'rotate',
    title: 'OpenID Connect',
    question: 'Rotate the OpenID Connect keys?',
    button: 'Rotate',
    lead: 'Activates the next key. Applications follow automatically. The old key stays published until everything it signed has expired.',
  },
  {
    use: 'saml',
    step: 'publish',
    title: 'SAML, first step',
    question: 'Publish the next SAML certificate?',
    button: 'Publish next certificate',
    lead: 'Publishes the next certificate next to the active one. Then ask the owner of each application to update the metadata.',
  },
  {
    use: 'saml',
    step: 'activate',
    title: 'SAML, second step',
    question: 'Activate the next SAML certificate?',
    button: 'Activate certificate',
    lead: 'Signs with the published certificate. People can’t sign in to an application that hasn’t updated the metadata.',
  },
  ...upstream('saml-sp'),
  ...upstream('saml-sp-encryption'),
];

/** The step that comes next for these keys of one use. */
export function rotationsNow(use: KeyUse, keys: readonly Pick<KeyInfo, 'state'>[]): Rotation[] {
  const hasNext = keys.some(({ state }) => state === 'next');
  const step = use === 'oidc' ? 'rotate' : hasNext ? 'activate' : 'publish';
  return ROTATIONS.filter((one) => one.use === use && one.step === step);
}
