// `gatehouse mail test`: what the mail server says, and what the DNS says about the sender.

import { parse } from '../base/http/input.ts';
import type { Commands } from './command.ts';

export const mailCommands: Commands = {
  'mail test': {
    args: ['ADDRESS'],
    summary: 'send a test message, and check SPF, DKIM and DMARC of the sender',
    options: { selector: { type: 'string', value: 'NAME', help: 'of DKIM; without it the key is not looked up' } },
    async act(services, input) {
      const { createMailAdmin, testJson, testInput } = await import('../admin/mail/mail.ts');
      const wish = parse(testInput, { to: input.words[0] ?? '', selector: input.text('selector') });
      const test = testJson(await createMailAdmin(services).sendTest(wish, {}));
      return {
        json: test,
        text: [
          ...[`${test.title}.`, test.text, test.answer],
          ...test.records.flatMap(({ kind, state, text, value }) => [
            `${kind} ${state}: ${text}`,
            ...(value === null ? [] : [`  ${value}`]),
          ]),
        ],
        code: ['accepted', 'written'].includes(test.outcome) ? 0 : 1,
      };
    },
  },
};
