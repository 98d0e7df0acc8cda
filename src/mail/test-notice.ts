// The text of the test email of an administrator.
import type { MailContent } from './content.ts';
import { describeTime } from './wording.ts';

export function testMailText(known: {
  message: { at: Date };
  hello: string;
  host: string;
}): Omit<MailContent, 'service'> {
  const { message, hello, host } = known;
  return {
    subject: `Test email from ${host}`,
    preheader: 'Email from this server works.',
    paragraphs: [hello, `Email from ${host} works. An administrator sent this test on ${describeTime(message.at)}.`],
    after: ['You don’t need to do anything.'],
  };
}
