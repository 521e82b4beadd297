/** Reads the header Server-Timing (https://www.w3.org/TR/server-timing/). In: its value; out: the stages that it times, in its order. */

export interface Stage {
  readonly name: string;
  readonly milliseconds: number;
}

/** The stages; what has no duration is left out. */
export function readServerTiming(header: string): readonly Stage[] {
  return header.split(',').flatMap((metric) => {
    const [name = '', ...parameters] = metric.split(';').map((part) => part.trim());
    const duration = parameters.find((parameter) => parameter.startsWith('dur='));
    return name === '' || duration === undefined ? [] : [{ name, milliseconds: Number(duration.slice('dur='.length)) }];
  });
}
