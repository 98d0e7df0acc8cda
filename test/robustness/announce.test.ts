// What a start prints beside the log.
import { expect, it } from 'vitest';
import { createLogger } from '../../src/platform/logger.ts';
import { announce, terminalOf } from '../../src/server/announce.ts';

it('a first start ends with a box that holds the address of the console, the username and the password', () => {
  const log: string[] = [];
  const terminal: string[] = [];
  const logger = createLogger({
    level: 'error',
    format: 'json',
    destination: { write: (line) => void log.push(line) },
  });
  const server = { url: 'https://id.example.com', firstAdmin: { username: 'admin', password: 'for-now' } };
  announce(server, logger, { terminal: { write: (text) => void terminal.push(text) } });
  const lines = terminal.join('').trim().split('\n');
  expect(lines).toEqual([
    '┌───────────────────────────────────────────────────────────────────┐',
    '│  Console              https://id.example.com/admin                │',
    '│  First administrator  username admin, temporary password for-now  │',
    '└───────────────────────────────────────────────────────────────────┘',
  ]);
  // Once: no log has the password.
  expect(log.join('')).not.toContain('for-now');
  expect([terminalOf({ logFormat: 'pretty' }), terminalOf({ logFormat: 'json' })]).toEqual([
    { terminal: process.stdout },
    { terminal: process.stderr },
  ]);
  announce({ ...server, firstAdmin: undefined }, logger, { terminal: { write: () => expect.unreachable() } });
});
