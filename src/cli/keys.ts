// `gatehouse keys …`: the signing keys. Running servers reload them after a change.
import type { RotationOutcome } from '../keys/keyring.ts';
import { type KeyAlg, keyAlgs } from '../keys/rotation.ts';
import { limits } from '../limits.ts';
import { type Command, jsonOption, UsageError } from './command.ts';
import { withServices } from './context.ts';
import { formatDate, type Io } from './io.ts';

export const keysList: Command = {
  name: 'keys list',
  summary: 'list the signing keys',
  options: jsonOption,
  run: (input, io) =>
    withServices(io, async ({ keyring }) => {
      const keys = await keyring.list();
      if (input.flag('json')) io.json(keys);
      else {
        const rows = keys.map(({ kid, use, alg, state, createdAt, activatedAt, certificate }) => [
          ...[kid, use, alg, state, formatDate(createdAt), formatDate(activatedAt), formatDate(certificate?.until)],
        ]);
        io.table(['KID', 'USE', 'ALG', 'STATE', 'CREATED', 'SIGNS SINCE', 'CERTIFICATE UNTIL'], rows);
      }
      return 0;
    }),
};

export const keysRotate: Command = {
  name: 'keys rotate',
  summary: 'let the next signing key sign',
  details: `OpenID Connect: the next key was published in advance, so clients already know it. The old one stays published until
everything it signed has expired. --alg rotates the keys of one algorithm only.
SAML takes two steps, because partners have to be notified: "keys rotate --saml" publishes the next certificate in the
metadata, and later "keys rotate --saml --activate" signs with it.
After a leak, --now does not wait: applications that have not read the new key yet will reject what it signs.`,
  options: {
    alg: { type: 'string', help: `one of ${keyAlgs.join(', ')}; all of them when absent` },
    saml: { type: 'boolean', help: 'the SAML certificate instead of the OpenID Connect keys' },
    activate: { type: 'boolean', help: 'with --saml: sign with the certificate that was published' },
    now: { type: 'boolean', help: 'do not wait until the next key was published long enough' },
    ...jsonOption,
  },
  run: (input, io) =>
    withServices(io, async ({ keyring }) => {
      const [saml, force, activate] = [input.flag('saml'), input.flag('now'), input.flag('activate')];
      if (activate && !saml) throw new UsageError('--activate goes with --saml');
      const alg = algOf(input.text('alg'));
      if (alg && saml) throw new UsageError('--alg does not go with --saml');
      await keyring.load();
      const use = saml ? 'saml' : 'oidc';
      let outcome = await keyring.rotate({ use, alg, force, activate: saml && (activate || force) });
      if (saml && force && outcome.outcome === 'nothing-to-activate') {
        await keyring.rotate({ use });
        outcome = await keyring.rotate({ use, force, activate: true });
      }
      if (input.flag('json')) io.json(outcome);
      else tell(outcome, io);
      return outcome.outcome === 'rotated' || outcome.outcome === 'published' ? 0 : 1;
    }),
};

function algOf(text: string | undefined): KeyAlg | undefined {
  const alg = keyAlgs.find((one) => one === text);
  if (text !== undefined && !alg) throw new UsageError(`--alg must be one of ${keyAlgs.join(', ')}`);
  return alg;
}

function tell(outcome: RotationOutcome, io: Io): void {
  switch (outcome.outcome) {
    case 'rotated':
      io.out(`These keys sign now: ${outcome.activated.join(', ')}`);
      io.out(`Running servers follow within ${limits.keys.reloadSeconds} seconds.`);
      return;
    case 'published':
      io.out(`The next certificate is in the metadata: ${outcome.kid}`);
      io.out('Notify the service providers, then run: gatehouse keys rotate --saml --activate');
      return;
    case 'published-already':
      io.err(`The next certificate was published before (${outcome.kid}).`);
      io.err(`To sign with it from ${formatDate(outcome.readyAt)} on, run: gatehouse keys rotate --saml --activate`);
      return;
    case 'too-early':
      io.err(
        `The next key (${outcome.kid}) is too new: applications may not have it before ${formatDate(outcome.readyAt)}.`,
      );
      io.err('After a leak, do not wait: add --now');
      return;
    case 'nothing-to-activate':
      io.err('There is no next key yet. Publish one first, or start the server once.');
      return;
    case 'superseded':
      io.err('Another process changed the keys at the same time. See: gatehouse keys list');
  }
}
