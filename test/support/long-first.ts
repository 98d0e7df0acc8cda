// Starts the files first that take long although they are small, so that none of them runs alone at the end: on a fresh checkout Vitest
// knows no durations, and begins with the largest file.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const longFiles = [
  'test/federation/active-directory.test.ts',
  'test/attacks/storage-budget.test.ts',
  'test/demo/demo.test.ts',
  'test/jobs/destinations.test.ts',
  'test/provisioning/hostile-targets.test.ts',
  'test/provisioning/failures.test.ts',
  'test/provisioning/people.test.ts',
  'test/faults/postgresql-away.test.ts',
  'test/accounts/inactivity.test.ts',
  'test/admin/users/import.test.ts',
  'test/groups/changes.test.ts',
  'test/admin/endpoints.test.ts',
  'test/faults/long-outage.test.ts',
  'test/cli/every-command.test.ts',
  'test/flows/single-logout-failures.test.ts',
  'test/flows/single-logout.test.ts',
  'test/cli/process.test.ts',
  'test/robustness/announce.test.ts',
  'test/admin/generated-requests.test.ts',
  'test/robustness/shutdown.test.ts',
  'test/logout/across-instances.test.ts',
  'test/cli/frozen-database.test.ts',
  'test/robustness/log-output.test.ts',
  'test/admin/console/pages/presets-width.browser.test.ts',
].map((file) => path.resolve(file));

export class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const lost = longFiles.filter((file) => !existsSync(file));
    if (lost.length > 0)
      throw new Error(`test/support/long-first.ts names files that do not exist: ${lost.join(', ')}`);
    const sorted = await super.sort(files);
    // One project after the other, as before: a process serves one of them.
    const projects = [...new Set(sorted.map(({ project }) => project.name))];
    return projects.flatMap((name) => {
      const ofProject = sorted.filter(({ project }) => project.name === name);
      const isLong = ({ moduleId }: TestSpecification) => longFiles.includes(moduleId);
      return [...ofProject.filter(isLong), ...ofProject.filter((file) => !isLong(file))];
    });
  }
}
