// `npm run bench -- --against FOLDER`: this build beside that of another checkout, for before and after a change.
import { readdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { startPostgres } from '../../test/support/database/postgres-start.ts';
import { newBrowserSignIn, passwordSignIn, samlSignOn, scenarios, websiteChecks } from '../scenarios.ts';
import { closeConnections } from './load.ts';
import { median } from './measure.ts';
import { pairRow } from './pair.ts';
import type { Row } from './report.ts';
import { gatehouseFolder, root, startGatehouse, type Target } from './target.ts';

export interface BuildOptions {
  isWanted: (name: string) => boolean;
  bursts: number;
  /** Starts of each build, after the first. */
  starts: number;
  isPostgresql: boolean;
  note: (text: string) => void;
}

/**
 * Each scenario, the start, the memory and the size of this build and of the one in the folder `build`. The scenarios run in two
 * rounds, in which each build is once the first one that starts and works: of two equal servers, the first one costs more. The
 * ratio is the geometric mean of both rounds.
 */
export async function compareWithBuild(build: string, options: BuildOptions): Promise<Row[]> {
  const ownFirst = await compareInOrder([root, build], options);
  const otherFirst = await compareInOrder([build, root], options);
  const rows = ownFirst.map((first, index): Row => {
    const second = otherFirst[index];
    const mean = (one = Number.NaN, other = Number.NaN) => Math.sqrt(one * other);
    options.note(
      `${first.name}: ${first.ratio?.toFixed(3)} as the first, ${(1 / (second?.ratio ?? 0)).toFixed(3)} as the second`,
    );
    return {
      name: first.name,
      unit: first.unit,
      gatehouse: mean(first.gatehouse, second?.limit),
      limit: mean(first.limit, second?.gatehouse),
      ratio: mean(first.ratio, second?.ratio && 1 / second.ratio),
    };
  });
  if (options.isWanted('start')) rows.push(...(await compareStarts(build, options)));
  if (options.isWanted('size')) rows.push({ name: 'size', unit: 'MB', gatehouse: sizeMb(root), limit: sizeMb(build) });
  return rows.map((row) => ({ ...row, limitName: path.basename(path.resolve(build)) }));
}

interface Started {
  target: Target;
  stop(): Promise<void>;
}

/** Starts a build on an empty database of its own, because two builds may have different migrations. */
async function start(build: string, { isPostgresql }: BuildOptions): Promise<Started> {
  const folder = gatehouseFolder();
  const database = isPostgresql ? await startPostgres() : undefined;
  const target = await startGatehouse(folder, { databaseUrl: database?.url, build });
  return {
    target,
    async stop() {
      await target.stop();
      await database?.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function compareInOrder([one, two]: [string, string], options: BuildOptions): Promise<Row[]> {
  const wanted = [...scenarios, samlSignOn, passwordSignIn, newBrowserSignIn, ...websiteChecks].filter(({ name }) =>
    options.isWanted(name),
  );
  if (wanted.length === 0) return [];
  const first = await start(one, options);
  const second = await start(two, options);
  const rows: Row[] = [];
  for (const scenario of wanted) {
    options.note(`${scenario.name} …`);
    const limit = { ...scenario, target: second.target };
    rows.push(await pairRow({ ...scenario, target: first.target }, limit, { limitName: '', bursts: options.bursts }));
  }
  await first.stop();
  await second.stop();
  closeConnections();
  return rows;
}

/** Starts both builds in turn on their existing databases. */
async function compareStarts(build: string, { starts, note }: BuildOptions): Promise<Row[]> {
  note('start …');
  const folders = [gatehouseFolder(), gatehouseFolder()];
  const startOnce = async (side: number) => {
    const server = await startGatehouse(folders[side] ?? '', { build: side === 0 ? root : build });
    const measured = { startMs: server.startMs, memoryMb: server.memoryMb() };
    await server.stop();
    return measured;
  };
  for (const side of [0, 1]) await startOnce(side);
  const pairs: Awaited<ReturnType<typeof startOnce>>[][] = [];
  for (let turn = 0; turn < starts; turn += 1) {
    const pair: Awaited<ReturnType<typeof startOnce>>[] = [];
    for (const side of turn % 2 === 0 ? [0, 1] : [1, 0]) pair[side] = await startOnce(side);
    pairs.push(pair);
  }
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  const row = (name: string, unit: Row['unit'], key: 'startMs' | 'memoryMb'): Row => {
    const values = (side: number) => pairs.map((pair) => pair[side]?.[key] ?? Number.NaN);
    const [own, limit] = [values(0), values(1)];
    const ratio = median(own.map((value, index) => value / (limit[index] ?? Number.NaN)));
    return { name, unit, gatehouse: median(own), limit: median(limit), ratio };
  };
  return [row('start, existing database', 'ms', 'startMs'), row('start, memory when ready', 'MB', 'memoryMb')];
}

/** What `npm run build` wrote, in MB. */
function sizeMb(build: string): number {
  const files = readdirSync(path.join(build, 'dist'), { recursive: true, withFileTypes: true });
  const bytes = files
    .filter((file) => file.isFile())
    .map((file) => statSync(path.join(file.parentPath, file.name)).size);
  return bytes.reduce((sum, size) => sum + size, 0) / 1e6;
}
