/** How a statement raises an error of ours where no function of ours is installed: by a cast that cannot succeed of a text that begins so. */

/** The beginning of such a text. */
export const raiseMarker = 'rowgraph: ';
