// /admin/keys: the signing keys and certificates, and their rotation.
import Router from '@koa/router';
import { z } from 'zod';
import type { Extras, State } from '../../http/context.ts';
import { parseForm } from '../../http/input.ts';
import type { KeyInfo } from '../../keys/keyring.ts';
import { type KeyUse, keyUses } from '../../keys/rotation.ts';
import type { Block, Cell, Tone } from '../console/blocks.ts';
import type { Frame } from '../console/frame.ts';
import type { KeyAdmin } from './actions.ts';

const READ = 'gatehouse.keys:read' as const;
const WRITE = 'gatehouse.keys:write' as const;
const rotateForm = z.object({
  use: z.enum(keyUses),
  step: z.enum(['rotate', 'publish', 'activate', 'force']),
});
const TITLES: Record<KeyUse, string> = {
  oidc: 'OpenID Connect',
  saml: 'SAML',
  'saml-sp': 'SAML at upstream identity providers: signatures',
  'saml-sp-encryption': 'SAML at upstream identity providers: decryption',
};
const LEADS: Record<KeyUse, string> = {
  oidc: 'Next keys are published before they sign, so that applications know them. Rotation is automatic.',
  saml: 'Service providers have to read the metadata again before the next certificate signs.',
  'saml-sp': 'Signs requests to identity providers, which read it from /saml/sp/metadata.',
  'saml-sp-encryption': 'Identity providers encrypt assertions for it.',
};
const TONES: Record<KeyInfo['state'], Tone> = { next: 'warn', active: 'good', retired: 'plain' };
const STATES: Record<KeyInfo['state'], string> = { next: 'Next', active: 'Active', retired: 'Retired' };
const ORDER: readonly KeyInfo['state'][] = ['next', 'active', 'retired'];
const OUTCOMES: Record<string, string> = {
  rotated: 'Next key activated.',
  published: 'Next certificate published.',
  'too-early': 'The next key is too new. Applications may not have read it yet.',
  'published-already': 'The next certificate is already published.',
  'nothing-to-activate': 'Publish the next certificate first.',
};

export interface KeyPagesDependencies {
  frame: Frame;
  keys: KeyAdmin;
}

/** All pages below /admin/keys. */
export function keyRoutes({ frame, keys }: KeyPagesDependencies): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: '/admin/keys' });

  router.get('/', ...frame.page(READ), async (ctx) => {
    const all = await keys.list();
    frame.show(ctx, {
      title: 'Signing keys',
      lead: 'The keys that sign tokens and assertions: next, active, and retired.',
      actions: frame.may(ctx, WRITE)
        ? [{ label: 'Rotate keys', icon: 'refresh-cw', href: '/admin/keys/rotate', look: 'primary' }]
        : [],
      blocks: keyUses.map((use) => keyTable(TITLES[use], use, all)),
    });
  });

  router.get('/rotate', ...frame.page(WRITE), (ctx) =>
    frame.show(ctx, {
      title: 'Rotate keys',
      back: { href: '/admin/keys', label: 'Signing keys' },
      blocks: [{ kind: 'tasks', title: 'Steps', isDanger: true, rows: ROTATIONS.map(rotationRow) }],
    }),
  );

  router.post('/rotate', ...frame.change(WRITE), async (ctx) => {
    const { use, step } = await parseForm(ctx, rotateForm.loose());
    const request = { use, ...(step === 'activate' && { activate: true }), ...(step === 'force' && { force: true }) };
    const { outcome } = await keys.rotate(request, frame.actor(ctx));
    frame.redirect(ctx, '/admin/keys', OUTCOMES[outcome] ?? outcome);
  });

  return router;
}

function keyTable(title: string, use: KeyInfo['use'], keys: readonly KeyInfo[]): Block {
  return {
    kind: 'table',
    title,
    caption: `Keys of ${title}: next, active, retired`,
    lead: LEADS[use],
    columns: ['Key', 'State', 'Created', 'Signs since', 'Retired', 'Certificate expires'],
    rows: keys
      .filter((key) => key.use === use)
      .sort((one, other) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state))
      .map(keyCells),
    empty: 'No keys yet.',
  };
}

function keyCells({ kid, alg, state, createdAt, activatedAt, retiredAt, certificate }: KeyInfo): Cell[] {
  const name = { text: kid, code: true, small: alg };
  const tag = { text: STATES[state], tone: TONES[state] };
  return [name, tag, createdAt, activatedAt, retiredAt, certificate?.until ?? null];
}

interface Rotation {
  use: KeyUse;
  step: z.output<typeof rotateForm>['step'];
  title: string;
  lead: string;
  button: string;
}

const ROTATIONS: readonly Rotation[] = [
  {
    use: 'oidc',
    step: 'rotate',
    title: 'OpenID Connect',
    button: 'Rotate',
    lead: 'Activates the next key. Applications follow automatically. The old key stays published until everything it signed has expired.',
  },
  {
    use: 'saml',
    step: 'publish',
    title: 'SAML, first step',
    button: 'Publish next certificate',
    lead: 'Publishes the next certificate next to the active one. Then ask the owner of each application to update the metadata.',
  },
  {
    use: 'saml',
    step: 'activate',
    title: 'SAML, second step',
    button: 'Activate certificate',
    lead: 'Signs with the published certificate. Applications that haven’t updated the metadata reject its signatures.',
  },
  ...(['saml-sp', 'saml-sp-encryption'] as const).flatMap((use): Rotation[] => [
    {
      use,
      step: 'publish',
      title: `${TITLES[use]}, first step`,
      button: 'Publish next certificate',
      lead: 'Publishes the next certificate in the metadata at /saml/sp/metadata. Then ask each identity provider to update it.',
    },
    {
      use,
      step: 'activate',
      title: `${TITLES[use]}, second step`,
      button: 'Activate key',
      lead: 'Uses the published key. Identity providers that haven’t updated the metadata don’t know it.',
    },
  ]),
];

function rotationRow({ use, step, title, lead, button }: Rotation) {
  const action = {
    label: button,
    of: title,
    post: '/admin/keys/rotate',
    fields: { use, step },
    look: 'danger' as const,
  };
  return { title, text: lead, action };
}
