package tare.gatling;

import static io.gatling.javaapi.core.CoreDsl.*;
import static io.gatling.javaapi.http.HttpDsl.*;

import io.gatling.javaapi.core.Simulation;
import io.gatling.javaapi.http.HttpRequestActionBuilder;

/** A number of users, each with its own connection. Each sends the same request again when it is answered. */
public final class ClosedLoop extends Simulation {
  {
    Asked asked = Asked.now;
    HttpRequestActionBuilder request =
        http("request").httpRequest(asked.method(), asked.url()).headers(asked.headers()).check(status().is(asked.status()));
    if (asked.body() != null) {
      request = request.body(RawFileBody(asked.body().toString()));
    }
    var user = scenario("user").during(asked.length()).on(exec(request));
    // Without the headers of a browser: the same request as that of tare and wrk.
    var protocol = http.disableCaching().disableFollowRedirect().disableAutoReferer();
    setUp(user.injectOpen(atOnceUsers(asked.users()))).protocols(protocol);
  }
}
