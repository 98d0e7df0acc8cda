// What each party of the demo did at the last sign-out, for its page: the applications report it themselves, the two servers in
// their audit log.

export interface Step {
  at: Date;
  place: string;
  text: string;
}

export interface SignOutSteps {
  /** A user presses the button in an application; the steps of the sign-out before are dropped. */
  begin(place: string, text: string): void;
  add(place: string, text: string, at?: Date): void;
  /** Those of the last sign-out, in the order of time. */
  last(): Step[];
}

export function createSignOutSteps(): SignOutSteps {
  let steps: Step[] = [];
  const add = (place: string, text: string, at = new Date()) => {
    steps.push({ at, place, text });
  };
  return {
    begin(place, text) {
      steps = [];
      add(place, text);
    },
    add(place, text, at) {
      // It began without an application, on a page of the server.
      if (steps.some((step) => step.place === place)) steps = [];
      add(place, text, at);
    },
    last: () => steps.toSorted((a, b) => a.at.getTime() - b.at.getTime()),
  };
}

/** Reads lines of a server's log (LOG_FORMAT=json), and adds a step for each session that it ends. */
export function readSessionEnds(steps: SignOutSteps, place: string, text: string): (line: string) => void {
  return (line) => {
    if (!line.includes('audit session.ended success')) return;
    const { time } = JSON.parse(line) as { time: string | number };
    steps.add(place, text, new Date(time));
  };
}
