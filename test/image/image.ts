// The image without Docker: what the Dockerfile copies, in a folder that becomes the root of the file system, read-only but for
// /data, with the programs of this machine in place of the base image. That needs root; without it the folder is used as it is.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Stage } from './dockerfile.ts';

/** Whether the image can have a root of its own here. */
export const canIsolate = spawnSync('unshare', ['--mount', 'true']).status === 0 && process.getuid?.() === 0;

export interface Image {
  /** Runs a command as the user of the image. */
  start(command: string[], environment: Record<string, string>): ChildProcess;
}

/** Does the steps of the stage in `root`. */
export function buildImage(stage: Stage, root: string): Image {
  const workdir = path.join(root, stage.workdir);
  mkdirSync(workdir, { recursive: true });
  chmodSync(root, 0o755);
  const old = filesOfOldBuild();
  for (const { from, to } of stage.copies) {
    const target = path.join(workdir, to);
    cpSync(from, to.endsWith('/') ? path.join(target, path.basename(from)) : target, {
      recursive: true,
      filter: (file) => !old.has(path.normalize(file)),
    });
  }
  if (!canIsolate) {
    return {
      start: ([, ...args], environment) =>
        spawn(process.execPath, args, {
          cwd: workdir,
          env: { ...stage.environment, DATA_DIR: path.join(root, 'data'), ...environment },
          stdio: ['ignore', 'pipe', 'pipe'],
        }),
    };
  }
  prepareSystem(root);
  for (const step of stage.runs) {
    const { status, stderr } = spawnSync('unshare', enter(root, ['sh', '-c', step], { uid: 0, writable: true }));
    if (status !== 0) throw new Error(`${step}: ${stderr}`);
  }
  return {
    start: (command, environment) => {
      const variables = Object.entries({ ...stage.environment, ...environment }).map(
        ([name, value]) => `${name}=${value}`,
      );
      const inWorkdir = [
        'env',
        `--chdir=${stage.workdir}`,
        '-i',
        'PATH=/usr/local/bin:/usr/bin:/bin',
        ...variables,
        ...command,
      ];
      return spawn('unshare', enter(root, inWorkdir, { uid: 1000, writable: false }), {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
    },
  };
}

/** The size of everything that the stage copied, in MB. */
export function sizeMb(stage: Stage, root: string): number {
  const folder = path.join(root, stage.workdir);
  const { stdout } = spawnSync('du', ['-s', '--block-size=1K', folder], { encoding: 'utf8' });
  if (!statSync(folder).isDirectory() || !/^\d+/.test(stdout)) throw new Error('du could not measure the folder');
  return Number.parseInt(stdout, 10) / 1024;
}

/** What a running server may still load from the build before the last one; the Dockerfile builds in a new folder. */
function filesOfOldBuild(): Set<string> {
  const build: Record<'current' | 'previous', string[]> = JSON.parse(readFileSync('dist/build.json', 'utf8'));
  const current = new Set(build.current);
  return new Set(build.previous.filter((file) => !current.has(file)).map((file) => path.join('dist', file)));
}

// What the base image has: its users, and the places of programs and libraries.
function prepareSystem(root: string): void {
  for (const folder of ['bin', 'lib', 'lib64', 'usr/bin', 'usr/lib', 'usr/local/bin', 'dev', 'proc', 'etc'])
    mkdirSync(path.join(root, folder), { recursive: true });
  writeFileSync(path.join(root, 'usr/local/bin/node'), '');
  writeFileSync(path.join(root, 'etc/passwd'), 'root:x:0:0::/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n');
  writeFileSync(path.join(root, 'etc/group'), 'root:x:0:\nnode:x:1000:\n');
  writeFileSync(path.join(root, 'etc/hosts'), '127.0.0.1 localhost\n');
}

// Mounts are seen by this one process only and end with it. Every step replaces the process, so signals reach the command.
function enter(root: string, command: string[], { uid, writable }: { uid: number; writable: boolean }): string[] {
  const script = `set -e
    mount --bind "$ROOT" "$ROOT"
    for folder in bin lib lib64 usr/bin usr/lib dev proc; do
      if [ -e "/$folder" ]; then mount --rbind "/$folder" "$ROOT/$folder"; fi
    done
    mount --bind "$NODE" "$ROOT/usr/local/bin/node"
    if [ -z "$WRITABLE" ]; then
      mount --bind "$ROOT/data" "$ROOT/data"
      mount -o remount,ro,bind "$ROOT"
    fi
    exec chroot --userspec=${uid}:${uid} --groups= "$ROOT" "$@"`;
  const variables = [`ROOT=${root}`, `NODE=${process.execPath}`, `WRITABLE=${writable ? 'yes' : ''}`];
  return ['--mount', 'env', ...variables, 'sh', '-c', script, 'sh', ...command];
}
