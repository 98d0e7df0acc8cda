// The task of the bcrypt worker thread (../worker.ts): bcrypt in JavaScript takes 300 ms at cost 12.
import { compareSync } from 'bcryptjs';

/**
 * Whether one of the passwords matches. All of them are tried, so that the time does not depend on which one was right.
 * @param {{ hash: string, passwords: string[] }} task
 * @returns {boolean}
 */
export function perform({ hash, passwords }) {
  return passwords.map((password) => compareSync(password, hash)).includes(true);
}
