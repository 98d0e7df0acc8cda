// `gatehouse keys …`: the signing keys. Running servers reload them after a change. `gatehouse secrets rotate`: encrypts them and everything
// else again under the first value of GATEHOUSE_SECRET.
import { limits } from '../base/limits.ts';
import { plural } from '../base/platform/plural.ts';
import type { RotationOutcome } from '../core/keys/keyring.ts';
import { type KeyAlg, type KeyUse, keyAlgs, keyUses } from '../core/keys/rotation.ts';
import { type Commands, type Input, type Result, UsageError } from './command.ts';
import { formatDate } from './io.ts';

export const keyCommands: Commands = {
  'keys list': {
    summary: 'list all signing keys',
    async act({ keyring }) {
      const keys = await keyring.list();
      const rows = keys.map(({ kid, use, alg, state, createdAt, activatedAt, canSignFrom, certificate }) => [
        ...[kid, use, alg, state, formatDate(createdAt), formatDate(activatedAt), formatDate(canSignFrom)],
        formatDate(certificate?.until),
      ]);
      const head = ['KID', 'USE', 'ALG', 'STATE', 'CREATED', 'SIGNING SINCE', 'CAN SIGN FROM', 'CERTIFICATE EXPIRES'];
      return { json: keys, table: [head, rows] };
    },
  },

  'keys rotate': {
    summary: 'activate the next signing key',
    details: `OpenID Connect: the next key was published in advance, so clients already know it. The old one stays published until
everything it signed has expired. --alg rotates the keys of one algorithm only.
SAML takes two steps, because partners have to be notified: "keys rotate --saml" publishes the next certificate in the
metadata, and later "keys rotate --saml --activate" signs with it. --saml-sp and --saml-sp-encryption are the keys of this
server as service provider of SAML connections, in the same two steps.
After a leak, --now does not wait: applications that have not read the new key yet will reject what it signs.`,
    options: {
      alg: { type: 'string', help: `one of ${keyAlgs.join(', ')} (default: all)` },
      saml: { type: 'boolean', help: 'the SAML certificate instead of the OpenID Connect keys' },
      'saml-sp': { type: 'boolean', help: 'the certificate that signs requests to SAML connections' },
      'saml-sp-encryption': { type: 'boolean', help: 'the certificate that SAML connections encrypt assertions for' },
      activate: { type: 'boolean', help: 'with one of these three: activate the published certificate' },
      now: { type: 'boolean', help: "don't wait until applications have read the next key" },
    },
    async act({ keyring }, input) {
      const [force, activate] = [input.flag('now'), input.flag('activate')];
      const use = useOf(input);
      const isSaml = use !== 'oidc';
      if (activate && !isSaml) throw new UsageError('--activate needs --saml, --saml-sp or --saml-sp-encryption');
      const alg = algOf(input.text('alg'));
      if (alg && isSaml) throw new UsageError(`--alg can't be used with --${use}`);
      await keyring.load();
      let outcome = await keyring.rotate({ use, alg, force, activate: isSaml && (activate || force) });
      if (isSaml && force && outcome.outcome === 'nothing-to-activate') {
        await keyring.rotate({ use });
        outcome = await keyring.rotate({ use, force, activate: true });
      }
      return { json: outcome, ...wordsOf(outcome, use) };
    },
  },
};

function algOf(text: string | undefined): KeyAlg | undefined {
  const alg = keyAlgs.find((one) => one === text);
  if (text !== undefined && !alg) throw new UsageError(`--alg must be one of ${keyAlgs.join(', ')}`);
  return alg;
}

function useOf(input: Input): KeyUse {
  const [use = 'oidc', another] = keyUses.filter((one) => one !== 'oidc' && input.flag(one));
  if (another) throw new UsageError(`--${use} can't be combined with --${another}`);
  return use;
}

function wordsOf(outcome: RotationOutcome, use: KeyUse): Pick<Result, 'text' | 'errors'> {
  const activation = `gatehouse keys rotate --${use} --activate`;
  const readers = use === 'saml' ? 'service providers' : 'identity providers of your SAML connections';
  switch (outcome.outcome) {
    case 'rotated':
      return {
        text: [
          `These keys sign now: ${outcome.activated.join(', ')}`,
          `Running servers follow within ${plural(limits.keys.reloadSeconds, 'second')}.`,
        ],
      };
    case 'published':
      return {
        text: [
          `The next certificate is in the metadata: ${outcome.kid}`,
          `Notify the ${readers}, then run: ${activation}`,
        ],
      };
    case 'published-already':
      return {
        errors: [
          `The next certificate is already published (${outcome.kid}).`,
          `To use it from ${formatDate(outcome.readyAt)} on, run: ${activation}`,
        ],
      };
    case 'too-early':
      return {
        errors: [
          `Not rotated. The next key (${outcome.kid}) can sign from ${formatDate(outcome.readyAt)}: applications read it first.`,
          "After a leak, don't wait: add --now",
        ],
      };
    case 'nothing-to-activate':
      return { errors: ['There is no next key yet. Publish one first, or start the server once.'] };
    case 'superseded':
      return { errors: ['Another process changed the keys at the same time. See: gatehouse keys list'] };
  }
}

export const secretCommands: Commands = {
  'secrets rotate': {
    summary: 'encrypt everything again with the first value of GATEHOUSE_SECRET',
    details: `First put the new value in front of the old one and restart every server. Then run this command: servers can run meanwhile, and
you can repeat it. When "gatehouse doctor" says that everything is encrypted with the first secret, remove the old value. MACs and cookies
do not depend on the secret. The exit code is 1 if a value cannot be decrypted.`,
    async act({ db, vault, audit }, _input, io) {
      const { resealAll } = await import('../server/secrets/reseal.ts');
      const results = await resealAll({ db, vault }, ({ table, resealed, unreadable }) =>
        io.err(`${table}: ${resealed + unreadable.length} …`),
      );
      const changed = results.filter(({ resealed }) => resealed > 0);
      if (changed.length > 0) {
        const data = Object.fromEntries(changed.map(({ table, resealed }) => [table, resealed]));
        await audit.record({ type: 'secrets.rotated', outcome: 'success', data });
      }
      const isDone = results.every(({ resealed, unreadable }) => resealed + unreadable.length === 0);
      return {
        json: results,
        text: [
          ...changed.map(
            ({ table, resealed }) => `${table}: encrypted ${plural(resealed, 'value')} with the first secret.`,
          ),
          ...(isDone ? ['Everything is encrypted with the first secret.'] : []),
        ],
        errors: results.flatMap(({ table, unreadable }) => {
          if (unreadable.length === 0) return [];
          const rows = unreadable.slice(0, 10).join(', ');
          const values = plural(unreadable.length, 'value');
          return [`${table}: can't decrypt ${values} with any value of GATEHOUSE_SECRET: ${rows}`];
        }),
      };
    },
  },
};
