-- Sets the password of rowgraph's login role, from the environment of the container.
\getenv password AUTHENTICATOR_PASSWORD
alter role authenticator password :'password';
