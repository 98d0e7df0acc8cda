// What a start prints on a terminal.
import { expect, it } from 'vitest';
import { createLogger } from '../../src/platform/logger.ts';
import { announce } from '../../src/server/announce.ts';

it('a first start on a terminal ends with a box that holds the address of the console, the username and the password', () => {
  const log: string[] = [];
  const terminal: string[] = [];
  const logger = createLogger({
    level: 'error',
    format: 'json',
    destination: { write: (line) => void log.push(line) },
  });
  const server = { url: 'https://id.example.com', firstAdmin: { username: 'admin', password: 'one-time' } };
  announce(server, logger, { terminal: { write: (text) => void terminal.push(text) } });
  const lines = terminal.join('').trim().split('\n');
  expect(lines).toEqual([
    '┌───────────────────────────────────────────────────┐',
    '│  Console            https://id.example.com/admin  │',
    '│  Username           admin                         │',
    '│  One-time password  one-time                      │',
    '└───────────────────────────────────────────────────┘',
  ]);
  expect(log.join('')).toContain('one-time password one-time');
  announce({ ...server, firstAdmin: undefined }, logger, { terminal: { write: () => expect.unreachable() } });
});
