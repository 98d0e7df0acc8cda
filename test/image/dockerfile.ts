// The last stage of the Dockerfile, read so that a test can do its steps without Docker.
import { readFileSync } from 'node:fs';

export interface Stage {
  /** From the build context, or from what an earlier stage built, to the folder of the image. */
  copies: { from: string; to: string }[];
  runs: string[];
  environment: Record<string, string>;
  user: string;
  workdir: string;
  command: string[];
  healthCheck: string[];
}

/** Throws when the stage has an instruction that this reader does not know. */
export function lastStage(file = 'Dockerfile'): Stage {
  const text = readFileSync(file, 'utf8')
    .replace(/^#.*\n/gm, '')
    .replace(/\\\n/g, ' ');
  const [, last = ''] = /^.*^FROM [^\n]*\n(.*)/ms.exec(text) ?? [];
  const stage: Stage = {
    copies: [],
    runs: [],
    environment: {},
    user: 'root',
    workdir: '/',
    command: [],
    healthCheck: [],
  };
  const instructions: Record<string, (rest: string) => void> = {
    COPY: (rest) => stage.copies.push(...copiesOf(rest)),
    RUN: (rest) => stage.runs.push(rest),
    ENV: (rest) => Object.assign(stage.environment, Object.fromEntries(rest.split(/\s+/).map((one) => one.split('=')))),
    USER: (rest) => Object.assign(stage, { user: rest }),
    WORKDIR: (rest) => Object.assign(stage, { workdir: rest }),
    CMD: (rest) => Object.assign(stage, { command: JSON.parse(rest) }),
    HEALTHCHECK: (rest) => Object.assign(stage, { healthCheck: JSON.parse(rest.slice(rest.indexOf('CMD') + 3)) }),
    LABEL: () => {},
    VOLUME: () => {},
    EXPOSE: () => {},
    STOPSIGNAL: () => {},
  };
  for (const [, name = '', rest = ''] of last.matchAll(/^([A-Z]+)\s+(.*)$/gm)) {
    const read = instructions[name];
    if (!read) throw new Error(`the Dockerfile has ${name}, which this reader does not know`);
    read(rest.trim());
  }
  return stage;
}

// `--from=build /app/dist dist` is what `npm run build` has made in this folder.
function copiesOf(rest: string): Stage['copies'] {
  const words = rest.split(/\s+/).filter((word) => !word.startsWith('--'));
  const to = words.pop() ?? '';
  return words.map((from) => ({ from: from.replace(/^\/app\//, ''), to }));
}
