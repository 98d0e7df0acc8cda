// Waits of the server that tests would sit out in full, thousands of times: the fixed response time of forms that hide whether
// an account exists, the pause before a mail is sent, the period in which due deliveries are found, and the time that a logout
// gives an application that does not answer. They are shorter in tests. Longer is what a busy machine exceeds: the wait of a password
// attempt for its turn, an answer of another server, which is often in the same process, and the reading of a configuration file; and the
// time to the first run of each job, which most tests do not need and which takes more CPU time than the start of the server.
// A file about such a wait, or about a server process of its own, has the real ones (realWaits).
import { limits } from '../../src/base/limits.ts';

const { uniformAnswer, mail, delivery, logout, signInQueue, sweep, outgoing, configuration, groups } = limits;
const { audit, jobs, provisioning } = limits;
const waits = {
  uniformAnswer,
  mail,
  delivery,
  logout,
  signInQueue,
  sweep,
  outgoing,
  configuration,
  groups,
  audit,
  jobs,
  provisioning,
};
const real = structuredClone({ ...waits, import: limits.import });

/** Every file begins so (setup-file.ts). */
export function shortWaits(): void {
  realWaits();
  Object.assign(uniformAnswer, { milliseconds: 5 });
  Object.assign(mail, { delayMs: 20 });
  Object.assign(delivery, { pollSeconds: 2 });
  Object.assign(signInQueue, { seconds: 60 });
  Object.assign(outgoing, { timeoutMs: 20_000 });
  Object.assign(configuration, { timeLimitMs: 100_000 });
  Object.assign(jobs, { firstRunSeconds: 20 });
}

/** For a server that starts after this, whose jobs have run once before the test begins (`firstJobs`), or run by themselves in it. */
export function promptJobs(): void {
  Object.assign(jobs, { firstRunSeconds: real.jobs.firstRunSeconds });
}

/** For a browser that waits for applications which do not answer. */
export function shortLogoutWaits(): void {
  Object.assign(logout, { hopSeconds: 2 });
}

/** For an application that does not answer the request before its logout page is framed. */
export function shortProbeWait(): void {
  Object.assign(logout, { probeMs: 200 });
}

/**
 * For a server that starts after this and stays until its process ends: it does its work when it is woken, and seldom looks for it by itself,
 * which is a hundredth of a core for each such server.
 */
export function rarePolls(): void {
  Object.assign(delivery, { pollSeconds: 60 });
  Object.assign(provisioning, { pollSeconds: 60 });
  Object.assign(audit, { sealSeconds: 60 });
  Object.assign(groups, { changesPollSeconds: 60 });
}

/** For destinations that are away, and are tried again after a pause. */
export function shortPauses(): void {
  Object.assign(delivery, { firstPauseSeconds: 2 });
}

/** For a server that starts after this and sweeps soon after its start. */
export function shortSweepWait(): void {
  Object.assign(sweep, { everySeconds: 0.2 });
}

/** The waits of production, until the end of the file. */
export function realWaits(): void {
  for (const [name, values] of Object.entries(real)) Object.assign(limits[name as keyof typeof real], values);
}

/** The time limits of the databases of tests: on a busy machine, statements wait for each other longer than a request may. */
export const patientDatabase = {
  ...limits.database,
  connectMs: 60_000,
  statementMs: 60_000,
  lockMs: 60_000,
  answerMs: 60_000,
  requestMs: 100_000,
};
