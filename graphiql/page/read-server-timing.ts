/** Reads the Server-Timing header (https://www.w3.org/TR/server-timing/). In: its value; out: the timed stages, in order. */

export interface Stage {
  readonly name: string;
  readonly milliseconds: number;
}

/** The stages; entries without a duration are left out. */
export function readServerTiming(header: string): readonly Stage[] {
  return header.split(',').flatMap((metric) => {
    const [name = '', ...parameters] = metric.split(';').map((part) => part.trim());
    const duration = parameters.find((parameter) => parameter.startsWith('dur='));
    return name === '' || duration === undefined ? [] : [{ name, milliseconds: Number(duration.slice('dur='.length)) }];
  });
}
