/** Style sheets, which the bundler collects into `page.css`. */
declare module '*.css';
