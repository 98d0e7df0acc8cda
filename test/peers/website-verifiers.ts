// Runs the verifiers of examples/websites/verify before this server: the genuine statement for a website, and those that are none.
//   npx tsx test/peers/website-verifiers.ts
import { mkdtempSync, rmSync } from 'node:fs';
import { type Language, node, subjectsOf, websiteJwts } from '../support/website-jwt.ts';
import { startGatehouse } from './gatehouse.ts';
import { Missing, needFile, newFolder, run } from './programs.ts';

const python: Language = {
  file: 'website.py',
  main: {
    file: 'main.py',
    text: `import json, sys, jwt
from website import user_of
def sub(token):
    try: return user_of(token)['sub']
    except jwt.PyJWTError: return None
print(json.dumps([sub(token) for token in json.load(sys.stdin)]))
`,
  },
  command: process.env.VERIFIERS ?? '/opt/peers/verifiers/bin/python',
  args: ['main.py'],
};
const go: Language = {
  file: 'website.go',
  main: {
    file: 'main/main.go',
    text: `package main
import ("encoding/json"; "fmt"; "os"; "website")
func main() {
	tokens, subs := []string{}, []any{}
	if json.NewDecoder(os.Stdin).Decode(&tokens) != nil { os.Exit(1) }
	for _, token := range tokens {
		claims, err := website.UserOf(token)
		if err != nil { subs = append(subs, nil); continue }
		sub, _ := claims.GetSubject()
		subs = append(subs, sub)
	}
	found, _ := json.Marshal(subs)
	fmt.Println(string(found))
}
`,
  },
  command: 'go',
  args: ['run', './main'],
};

async function goModule(): Promise<string> {
  const folder = newFolder('verifier');
  await run('go', ['version']).catch(() => {
    throw new Missing('needs Go');
  });
  await run('go', ['mod', 'init', 'website'], { cwd: folder });
  const modules = ['github.com/golang-jwt/jwt/v5@v5.3.1', 'github.com/MicahParks/keyfunc/v3@v3.9.2'];
  await run('go', ['get', ...modules], { cwd: folder });
  return folder;
}

const gatehouse = await startGatehouse('127.0.0.2');
const { issuer } = gatehouse;
const { origin, sub, genuine, rejected } = await websiteJwts(gatehouse);
const statements = [genuine, ...Object.values(rejected)];
let failures = 0;
for (const [name, language, prepare] of [
  ['Node.js', node, () => mkdtempSync('node_modules/.verifier-')],
  [
    'Python',
    python,
    () => {
      needFile(python.command, 'README.md');
      return newFolder('verifier');
    },
  ],
  ['Go', go, goModule],
] as const) {
  try {
    const folder = await prepare();
    const [first, ...others] = await subjectsOf(language, folder, { issuer, origin }, statements);
    if (folder.startsWith('node_modules')) rmSync(folder, { recursive: true });
    const accepted = Object.keys(rejected).filter((_name, at) => others[at] !== null);
    const isRight = first === sub && accepted.length === 0;
    if (!isRight) failures += 1;
    const found = isRight ? `accepts 1, rejects ${others.length}` : `FAILED: ${first}, accepts ${accepted}`;
    process.stdout.write(`${name}: ${found}\n`);
  } catch (error) {
    if (!(error instanceof Missing)) failures += 1;
    process.stdout.write(
      `${name}: ${error instanceof Missing ? 'skipped, ' : 'FAILED: '}${(error as Error).message}\n`,
    );
  }
}
await gatehouse.stop();
process.exit(failures > 0 ? 1 : 0);
