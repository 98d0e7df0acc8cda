// `gatehouse sign-up-code …`: creates, lists and revokes the codes with which people sign up.
import { limits } from '../base/limits.ts';
import { plural } from '../base/platform/plural.ts';
import { type Commands, fail, type Input, noSuch, UsageError } from './command.ts';
import { formatDate, secretLines } from './io.ts';

const { defaultDays, maxDays, maxUses } = limits.signUpCode;

export const signUpCodeCommands: Commands = {
  'sign-up-code create': {
    summary: 'create a code with which people sign up; prints it once',
    details: 'Sign-up takes codes while the settings self_registration and sign_up_code_required are on.',
    options: {
      name: { type: 'string', value: 'NAME', help: 'whom the code is for' },
      uses: { type: 'string', value: 'NUMBER', help: 'how many accounts can be created with it (default: 1)' },
      days: {
        type: 'string',
        value: 'DAYS',
        help: `days until it expires (default: ${defaultDays}, at most ${maxDays})`,
      },
    },
    async act({ signUpCodes, settings }, input) {
      const name = input.text('name')?.trim() ?? '';
      if (name === '') throw new UsageError('--name is missing');
      if (name.length > 100) throw new UsageError('--name has at most 100 characters');
      const uses = numberOf(input, 'uses', 1, maxUses);
      const days = numberOf(input, 'days', defaultDays, maxDays);
      const { code, text } = await signUpCodes.create({ name, maxUses: uses, days }, {});
      const { self_registration, sign_up_code_required } = settings.latest();
      const { id, expiresAt } = code;
      const end = expiresAt ? [`It expires at ${expiresAt.toISOString()}.`] : [];
      return {
        json: { id, code: text, max_uses: code.maxUses, expires_at: expiresAt },
        text: secretLines('Sign-up code', text, `It creates ${plural(code.maxUses, 'account')}.`, ...end),
        ...(!(self_registration && sign_up_code_required) && {
          notes: ['Sign-up takes no codes yet: turn the settings self_registration and sign_up_code_required on.'],
        }),
      };
    },
  },

  'sign-up-code list': {
    summary: 'list all sign-up codes, with their uses',
    async act({ signUpCodes }) {
      const codes = await signUpCodes.list();
      const rows = codes.map(({ id, name, uses, maxUses: max, state, expiresAt, source }) => [
        ...[id, name, `${uses} of ${max}`, state, expiresAt ? formatDate(expiresAt) : 'never', source],
      ]);
      return { json: codes, table: [['ID', 'NAME', 'USES', 'STATE', 'EXPIRES', 'SOURCE'], rows] };
    },
  },

  'sign-up-code revoke': {
    args: ['ID'],
    summary: 'revoke a sign-up code; accounts that were created with it stay',
    details: 'The command sign-up-code list prints the ID.',
    async act({ signUpCodes }, { words: [id = ''] }) {
      const found = await signUpCodes.get(id).catch(() => undefined);
      const { name, source } = found ?? noSuch('sign-up code', 'sign-up-code', id);
      if (source === 'file') fail(`The sign-up code ${name} is declared in the configuration file. Remove it there.`);
      await signUpCodes.revoke(id, {});
      return { json: { id, revoked: true }, text: `The sign-up code ${name} is revoked.` };
    },
  },
};

function numberOf(input: Input, option: 'uses' | 'days', otherwise: number, max: number): number {
  const text = input.text(option);
  if (text === undefined) return otherwise;
  const number = /^[1-9]\d{0,5}$/.test(text) ? Number(text) : 0;
  if (number < 1 || number > max) throw new UsageError(`--${option} must be a number from 1 to ${max}`);
  return number;
}
