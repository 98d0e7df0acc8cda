// Builds and starts an application from the code that the console has for each framework, with nothing added but its surroundings, and
// signs in and out there (README.md). Not part of `npm test`, because it needs what npm and this repository do not have.
//   npx tsx test/peers/frameworks.ts [--framework go] …
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { frameworkInstructions } from '../../src/admin/applications/presets/frameworks.ts';
import { aClient, aUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { type Gatehouse, startGatehouse } from './gatehouse.ts';
import { freePort, Missing, needFile, newFolder, type Program, run, startProgram } from './programs.ts';

const { values: options } = parseArgs({ options: { framework: { type: 'string', multiple: true } } });
const INSTALLED = process.env.FRAMEWORKS ?? '/opt/peers/frameworks';

interface Surroundings {
  framework: string;
  redirectPath: string;
  /** `localhost`: Next.js, in development, calls itself so. */
  host?: string;
  /** Where a sign-in starts. */
  startPath: string;
  /** Writes what the code leaves to the developer, and starts it. */
  start(folder: string, port: number, secret: string): Promise<Program>;
}

const linkModules = (folder: string, name: string) =>
  symlinkSync(needFile(path.join(INSTALLED, name, 'node_modules'), 'README.md'), path.join(folder, 'node_modules'));

const all: Surroundings[] = [
  {
    framework: 'Express',
    redirectPath: '/callback',
    startPath: '/sign-in',
    start(folder, port, secret) {
      linkModules(folder, 'express');
      const env = { PORT: String(port), CLIENT_SECRET: secret, SESSION_SECRET: secret };
      return startProgram('node', ['server.mjs'], { cwd: folder, env, ready: `http://127.0.0.1:${port}/` });
    },
  },
  {
    framework: 'Next.js',
    redirectPath: '/api/auth/callback/gatehouse',
    host: 'localhost',
    startPath: '/api/auth/signin',
    async start(folder, port, secret) {
      linkModules(folder, 'nextjs');
      const compilerOptions = {
        jsx: 'preserve',
        paths: { '@/*': ['./*'] },
        module: 'esnext',
        moduleResolution: 'bundler',
      };
      writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
      writeFileSync(
        path.join(folder, 'app/layout.tsx'),
        'export default ({ children }: any) => <html lang="en"><body>{children}</body></html>;\n',
      );
      const env = { AUTH_SECRET: secret, AUTH_GATEHOUSE_SECRET: secret, AUTH_URL: `http://localhost:${port}` };
      const next = path.join(INSTALLED, 'nextjs/node_modules/.bin/next');
      return startProgram(next, ['dev', '--webpack', '-H', 'localhost', '-p', String(port)], {
        cwd: folder,
        env: { ...env, NEXT_TELEMETRY_DISABLED: '1' },
        ready: `http://localhost:${port}/`,
        seconds: 300,
      });
    },
  },
  {
    framework: 'Spring Security',
    redirectPath: '/callback',
    startPath: '/',
    async start(folder, port, secret) {
      const java = path.join(folder, 'src/main/java/app');
      mkdirSync(java, { recursive: true });
      const pom = needFile(path.join(INSTALLED, 'spring/pom.xml'), 'README.md');
      writeFileSync(path.join(folder, 'pom.xml'), readFileSync(pom));
      const config = readFileSync(path.join(folder, 'SecurityConfig.java'), 'utf8');
      writeFileSync(path.join(java, 'SecurityConfig.java'), `package app;\n${config}`);
      writeFileSync(
        path.join(java, 'App.java'),
        `package app;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.security.core.annotation.AuthenticationPrincipal;
import org.springframework.security.oauth2.core.oidc.user.OidcUser;
import org.springframework.web.bind.annotation.*;

@SpringBootApplication
@RestController
class App {
  public static void main(String[] args) { SpringApplication.run(App.class, args); }
  @GetMapping("/") Object user(@AuthenticationPrincipal OidcUser user) { return user.getClaims(); }
}
`,
      );
      await run('mvn', ['-q', '-B', 'package', '-DskipTests'], { cwd: folder });
      const env = { CLIENT_SECRET: secret, SERVER_PORT: String(port), SERVER_ADDRESS: '127.0.0.1' };
      return startProgram('java', ['-jar', 'target/app.jar'], { cwd: folder, env, ready: `http://127.0.0.1:${port}/` });
    },
  },
  {
    framework: 'Django',
    redirectPath: '/callback',
    startPath: '/sign-in',
    async start(folder, port, secret) {
      const python = needFile(path.join(INSTALLED, 'django/bin/python'), 'README.md');
      const own = (file: string) => readFileSync(path.join(folder, file), 'utf8');
      writeFileSync(path.join(folder, 'app/__init__.py'), '');
      const database = `{"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "${folder}/db"}}`;
      writeFileSync(
        path.join(folder, 'app/settings.py'),
        `SECRET_KEY = "${secret}"
DEBUG = True
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "app.urls"
DATABASES = ${database}
INSTALLED_APPS = ["django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions"]
MIDDLEWARE = ["django.contrib.sessions.middleware.SessionMiddleware", "django.contrib.auth.middleware.AuthenticationMiddleware"]
${own('settings.py')}`,
      );
      writeFileSync(
        path.join(folder, 'app/urls.py'),
        `from django.contrib.auth.decorators import login_required
from django.http import JsonResponse
from django.urls import path
home = login_required(lambda r: JsonResponse({"sub": r.user.username, "email": r.user.email}))
urlpatterns = [path("", home)]
${own('urls.py')}`,
      );
      const env = { CLIENT_SECRET: secret, DJANGO_SETTINGS_MODULE: 'app.settings', PYTHONPATH: folder };
      await run(python, ['-m', 'django', 'migrate', '-v0'], { cwd: folder, env: { ...process.env, ...env } });
      const args = ['-m', 'django', 'runserver', '--noreload', `127.0.0.1:${port}`];
      return startProgram(python, args, { cwd: folder, env, ready: `http://127.0.0.1:${port}/` });
    },
  },
  {
    framework: 'Go',
    redirectPath: '/callback',
    startPath: '/sign-in',
    async start(folder, port, secret) {
      for (const file of ['go.mod', 'go.sum'])
        writeFileSync(path.join(folder, file), readFileSync(needFile(path.join(INSTALLED, 'go', file), 'README.md')));
      await run('go', ['build', '-o', 'app', '.'], { cwd: folder });
      const env = { CLIENT_SECRET: secret, PORT: String(port) };
      return startProgram('./app', [], { cwd: folder, env, ready: `http://127.0.0.1:${port}/sign-in` });
    },
  },
];

const gatehouse = await startGatehouse();
let failures = 0;
for (const one of all) {
  if (!(options.framework?.includes(one.framework) ?? true)) continue;
  for (const method of ['client_secret_basic', 'client_secret_post'] as const) {
    let result: string;
    try {
      result = await tryFramework(gatehouse, one, method);
    } catch (error) {
      if (!(error instanceof Missing)) failures += 1;
      result = error instanceof Missing ? `skipped, ${error.message}` : `FAILED: ${(error as Error).message}`;
    }
    process.stdout.write(`${one.framework}, ${method}: ${result}\n`);
  }
}
await gatehouse.stop();
process.exit(failures > 0 ? 1 : 0);

async function tryFramework(
  { issuer, services }: Gatehouse,
  { framework, redirectPath, host = '127.0.0.1', startPath, start }: Surroundings,
  method: 'client_secret_basic' | 'client_secret_post',
): Promise<string> {
  const port = await freePort();
  const origin = `http://${host}:${port}`;
  const { clientId, clientSecret } = await aClient(services, {
    redirect_uris: [`${origin}${redirectPath}`],
    post_logout_redirect_uris: [`${origin}/`],
    token_endpoint_auth_method: method,
  });
  const application = await services.applications.find(clientId);
  if (application?.protocol !== 'oidc') throw new Error('no application');
  const code = frameworkInstructions(application, issuer).find((one) => one.framework === framework)?.text ?? '';
  const folder = newFolder(framework.replaceAll(/\W/g, ''));
  writeFiles(folder, code);
  const program = await start(folder, port, clientSecret);
  try {
    const user = await aUser(services, { givenName: 'Ann', familyName: 'Example' });
    const browser = httpClient(origin);
    let page = await browser.follow(await browser.get(`${origin}${startPath}`));
    if (page.url.startsWith(origin)) page = await browser.follow(await browser.submit(page));
    page = await browser.follow(await browser.submit(page, { username: user.username, password: user.password }));
    const expected = framework === 'Next.js' ? 'Ann Example' : user.account.id;
    if (!page.url.startsWith(origin) || !page.text.includes(expected))
      throw new Error(`${page.url} ${page.status} ${page.text.slice(0, 300)}\n${program.output().slice(-2000)}`);
    return `signed in at ${new URL(page.url).pathname}`;
  } finally {
    await program.stop();
  }
}

/** A comment with a file's name begins each file. */
function writeFiles(folder: string, code: string): void {
  const starts = [...code.matchAll(/^(?:\/\/|#) ([\w./[\]-]+\.(?:mjs|tsx?|yaml|java|py|go))(?=[:, ]|$)/gm)];
  for (const [at, { 1: name = '', index }] of starts.entries()) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, code.slice(index, starts[at + 1]?.index));
  }
}
