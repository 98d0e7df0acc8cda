import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Mailbox, mailbox } from './mailbox.ts';

let box: Mailbox;
beforeAll(async () => {
  box = await mailbox();
});
afterAll(() => box.close());

describe('the mail server of the tests', () => {
  it('returns each mail once, to the test that waits for it', async () => {
    const waiting = box.waitForMail('alice@example.com');
    const transport = createTransport(box.url);
    await transport.sendMail({ from: 'g@example.com', to: 'bob@example.com', subject: 'One', text: 'Für Bob' });
    await transport.sendMail({ from: 'g@example.com', to: 'alice@example.com', subject: 'Two', html: '<p>Grüße</p>' });
    expect(await waiting).toMatchObject({ subject: 'Two', html: expect.stringContaining('Grüße') });
    expect(await box.waitForMail('bob@example.com')).toMatchObject({ text: expect.stringContaining('Für Bob') });
    await expect(box.waitForMail('bob@example.com', { seconds: 0.1 })).rejects.toThrow('No mail to bob@example.com');
  });

  it('answers as a busy server on request', async () => {
    const mail = { from: 'g@example.com', to: 'carol@example.com', subject: 'Three', text: 'x' };
    box.rejectNext(1);
    await expect(createTransport(box.url).sendMail(mail)).rejects.toMatchObject({ responseCode: 451 });
    await createTransport(box.url).sendMail(mail);
    expect(box.messages.filter(({ subject }) => subject === 'Three')).toHaveLength(1);
  });
});
