// Unpacks the Chromium of the npm package @sparticuz/chromium once per machine and version.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

export interface Chromium {
  executable: string;
  /** A fontconfig file naming the fonts of the package beside those of the machine: pages never lack letters. */
  fonts: string;
}

// In a process of its own, because the package unpacks into the system's temporary folder and does not notice
// that another process is still writing there.
const unpackProgram = `import chromium from '@sparticuz/chromium'; await chromium.executablePath();`;

/** Where the browser is; about two seconds the first time, nothing later. */
export async function unpackChromium(): Promise<Chromium> {
  const home = path.join(tmpdir(), `gatehouse-chromium-${packageVersion()}-${process.getuid?.() ?? 0}`);
  if (!existsSync(home)) await unpackInto(home);
  return { executable: path.join(home, 'chromium'), fonts: path.join(home, 'fonts.conf') };
}

async function unpackInto(home: string): Promise<void> {
  const workshop = mkdtempSync(`${home}-`);
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', unpackProgram], {
    cwd: import.meta.dirname,
    env: { ...process.env, TMPDIR: workshop, TEMP: workshop },
  });
  mkdirSync(path.join(workshop, 'fonts'), { recursive: true });
  const folders = [path.join(home, 'fonts'), '/usr/share/fonts', '/usr/local/share/fonts'];
  writeFileSync(
    path.join(workshop, 'fonts.conf'),
    `<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>${folders
      .map((folder) => `<dir>${folder}</dir>`)
      .join('')}<cachedir>${path.join(home, 'font-cache')}</cachedir></fontconfig>`,
  );
  try {
    renameSync(workshop, home);
  } catch (error) {
    // Another process was quicker; its copy is as good.
    rmSync(workshop, { recursive: true, force: true });
    if (!existsSync(home)) throw error;
  }
}

function packageVersion(): string {
  const entry = createRequire(import.meta.url).resolve('@sparticuz/chromium');
  const manifest = path.join(entry.slice(0, entry.indexOf(path.join('@sparticuz', 'chromium'))), '@sparticuz/chromium');
  return JSON.parse(readFileSync(path.join(manifest, 'package.json'), 'utf8')).version;
}
