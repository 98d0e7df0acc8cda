// Generates the two Prisma clients, src/generated/sqlite and src/generated/postgresql, from one schema.
// Plain JavaScript, so that it runs before the build; needs no network; does nothing when nothing changed.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const providers = ['sqlite', 'postgresql'];
const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const generated = path.join(root, 'src', 'generated');
const prismaPackage = createRequire(import.meta.url).resolve('prisma/package.json');
const schema = readFileSync(path.join(root, 'prisma', 'schema.prisma'), 'utf8');
const fingerprint = createHash('sha256')
  .update(readFileSync(fileURLToPath(import.meta.url)))
  .update(JSON.parse(readFileSync(prismaPackage, 'utf8')).version)
  .update(schema)
  .digest('hex');

const stale = providers.filter((provider) => stampOf(provider) !== fingerprint);
if (stale.length > 0) await generateAll(stale);

async function generateAll(wanted) {
  // Generated in a temporary folder and renamed, so that a concurrent build never reads an incomplete client.
  const temporary = path.join(generated, `.making-${process.pid}`);
  try {
    await Promise.all(wanted.map((provider) => generate(provider, temporary)));
    for (const provider of wanted) {
      rmSync(path.join(generated, provider), { recursive: true, force: true });
      renameSync(path.join(temporary, provider), path.join(generated, provider));
    }
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

async function generate(provider, temporary) {
  const output = path.join(temporary, provider);
  const schemaFile = path.join(temporary, `${provider}.prisma`);
  mkdirSync(output, { recursive: true });
  writeFileSync(
    schemaFile,
    schema
      .replace('provider = "sqlite"', `provider = "${provider}"`)
      .replace('"../src/generated/sqlite"', JSON.stringify(`./${provider}`)),
  );
  const command = path.join(path.dirname(prismaPackage), 'build', 'index.js');
  // Generating needs no engine, but the command line downloads one unless this variable names an existing file.
  const env = {
    ...process.env,
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
    CHECKPOINT_DISABLE: '1',
  };
  try {
    await promisify(execFile)(process.execPath, [command, 'generate', '--no-hints', '--schema', schemaFile], {
      env,
      cwd: root,
    });
  } catch (error) {
    process.stderr.write(`${error.stdout ?? ''}${error.stderr ?? error.message}\n`);
    process.exitCode = 1;
    throw new Error(`The Prisma client for ${provider} could not be generated; the reason is above.`);
  }
  writeFileSync(path.join(output, '.fingerprint'), fingerprint);
}

function stampOf(provider) {
  try {
    return readFileSync(path.join(generated, provider, '.fingerprint'), 'utf8');
  } catch {
    return undefined;
  }
}
